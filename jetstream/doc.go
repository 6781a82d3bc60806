// Package jetstream is a durable queue of requests on NATS JetStream: jobs that survive the end of the program that
// submitted them and of the workers that run them, with one result each. [Embed] runs the server inside the program,
// with its store in a folder and without a socket; with a connection to a cluster the same [Queue] is shared by many
// machines. [Cooldowns] shares the cooldowns of their backends.
//
// It moves requests and results, and decides what follows a failure of a job. It knows no CLI: that is the part of a
// clichain.Backend.
//
// # What is promised
//
// A job whose Submit returned nil is not lost as long as the store is not: the embedded server writes to the disk
// before it says so; a cluster does where its servers have sync_interval: always. A job has one result: it is written
// by a compare-and-set before the job is taken from the queue. A job with access none or read may be run twice, after
// its worker died or was cut off; one that may change something never is, unless it says Idempotent.
package jetstream
