// Package batch answers a file of requests, one JSON object a line, through a queue, and writes one line for each
// answer or failure. It may be killed at any moment: the output is the record of what is done, the queue keeps what
// came of a job until its line is on the disk, and the same call goes on from there.
//
// It moves lines, jobs and results. It must never know a CLI, a flag or an exit status: whoever calls it gives a
// backend, or workers elsewhere, and makes of a [Summary] what a shell is told.
package batch
