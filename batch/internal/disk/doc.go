// Package disk holds the files of a batch: its output, the file for input lines that cannot run, and checks of the
// directory that holds its queue. It writes to no file that a batch has not written, and explains what to do about a
// file that cannot be written.
package disk
