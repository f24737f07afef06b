/* NVIDIA's driver, as far as the library looks for it: a file of its name. */
int gnnmg_fake_driver(void) { return 0; }
