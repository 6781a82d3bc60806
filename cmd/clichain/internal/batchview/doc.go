// Package batchview prints the progress of a batch: a status line or a line at intervals, notices, a summary, and the
// plan of a dry run.
package batchview
