// Package jetstream is a durable queue of requests on NATS JetStream. A job survives the program that submitted it
// and the workers that run it, and has exactly one result. [Embed] runs the server inside the program, with its store
// in a directory and without a socket. With a connection to a cluster, many machines share the same [Queue].
// [Cooldowns] shares the cooldowns of their backends.
//
// The package moves requests and results, and decides whether a failed job is retried. It knows no CLI: a
// clichain.Backend runs the requests.
//
// # Guarantees
//
// A job is not lost once Submit has returned nil, unless the server's store is lost: the embedded server writes to
// the disk before it acknowledges. The servers of a cluster do so with sync_interval: always. A job has one result: a
// compare-and-set writes it before the job leaves the queue. A job with access none or read may run twice after its
// worker died or lost its connection. A job that may change something never runs twice, unless it is Idempotent
// or the worker is Isolated.
package jetstream
