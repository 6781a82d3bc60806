// Package slots makes private copies of directories for agents that change files. A copy lies in a slot: a directory
// that one process at a time has locked and that later calls use again, so that the number of paths stays small.
//
// # Layout
//
// A slot is the directory ROOT/HASH/NUMBER. HASH identifies the real path of the original, and NUMBER counts from 1.
//
//	lock      the lock of the slot; its time is the end of the last use
//	used      exists during a use; without the lock, the host of the use has died
//	manifest  the copied files and their states in the original and in the copy
//	objects   the states of the copied objects of the repository
//	git       the git directory of clichain, which describes the copy
//	NAME      the copy, with the name of the original
//
// # Trust
//
// An agent can change everything in the copy, but not the other files of the slot. A file in the copy is used again
// only if its inode, times, size and mode are those of the manifest. A program cannot forge them, because it cannot set
// the time of the last change of an inode. Everything else in the copy is removed. So a killed host leaves nothing that
// a later use could mistake for a file of the original.
package slots
