/* The smallest proof that header and library fit: creates a context and frees it. With any argument
 * the program prints the library's view of the GPUs. */
#include <gnnmg.h>
#include <stdio.h>

int main(int argc, char** argv) {
  gnnmg_context* context = NULL;
  const gnnmg_status status = gnnmg_context_create(GNNMG_VERSION, NULL, &context);
  if (status != GNNMG_OK) {
    printf("%s: %s\n", gnnmg_status_name(status), gnnmg_last_error());
    return 1;
  }
  int64_t gpus = 0;
  const char* why = "";
  (void)argv;
  if (argc > 1 && gnnmg_context_num_devices(context, &gpus, &why) == GNNMG_OK)
    printf("%d GPUs %s\n", (int)gpus, why);
  gnnmg_context_free(context);
  printf("hello from libgnnmg %d\n", (int)gnnmg_version());
  return gnnmg_version() != GNNMG_VERSION;
}
