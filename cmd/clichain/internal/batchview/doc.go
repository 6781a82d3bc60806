// Package batchview shows people how a batch goes on: a status line or a line now and then, notices, a summary, and the
// plan of a dry run.
package batchview
