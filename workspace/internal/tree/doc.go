// Package tree records a directory as a tree of git, computes the changes between two trees, and applies changes to a
// directory.
//
// Snapshot and Diff use a git directory of package git. Apply does not need git. None of them runs a program that the
// files name.
//
// A tree contains regular files and symbolic links. Of the mode of a file it contains only whether its owner may
// execute it. Empty directories, FIFOs, sockets, devices, and everything named .git are not in a tree. On Windows, all
// files have the mode 100644, and a symbolic link is a file with its target unless git can create symbolic links.
package tree
