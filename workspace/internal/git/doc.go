// Package git runs the program git on directories whose files are not trusted, such as the copy that an agent worked
// in.
//
// Git runs programs that files name: hooks, filters, the file system monitor, external diffs. This package therefore
// uses its own git directory (Repo) with a fixed configuration, and never reads the .git of the files. The
// configuration of the user and of the system is not used either. Attributes in the files convert nothing: the bytes of
// a file are the bytes of its blob.
//
// Original answers questions about the repository of the user. No such question runs a program that the repository
// names.
//
// The program git is needed when a function of this package is called. ErrMissing reports that it is missing.
package git
