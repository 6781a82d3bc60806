// Package disk manages the files of a batch: its output, the file for input lines that cannot run, and checks of the
// queue directory. It writes only to files that a batch has created. Its errors explain what to do about a file that
// is not writable.
package disk
