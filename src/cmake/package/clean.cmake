# Run by cpack after each kind of package: removes the tree of 500 MB that it was made from.
file(REMOVE_RECURSE ${CPACK_TEMPORARY_DIRECTORY})
