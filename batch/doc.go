// Package batch answers a file of requests, with one JSON object per line, and writes one line for each answer or
// failure:
//
//	s, err := batch.Run(ctx, &batch.Config{
//		In: "in.jsonl", Out: "out.jsonl", Jobs: 4, Backends: backends,
//	})
//
// An input line contains a prompt or messages. It can also contain an id, a model, a schema and other fields of a
// request:
//
//	{"id": "7", "prompt": "Name three uses of a paper clip."}
//
// An output line contains a [Record]. The input can also be a table, a JSON array, plain text or lines of OpenAI's
// batch API, see [Format]. [DryRun] reports what a run would do and starts no process.
//
// A run can be killed at any time. The output records which lines are done. A queue on the disk stores the jobs in
// flight and the answers that are not yet in the output. The same call resumes the batch and does not repeat requests
// that were answered.
//
// The backends of Config.Backends answer in this process. With Config.Connect, the workers of another server's queue
// answer, see package jetstream.
package batch
