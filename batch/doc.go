// Package batch answers a file of requests, one JSON object a line, and writes one line for each answer or failure:
//
//	s, err := batch.Run(ctx, &batch.Config{
//		In: "in.jsonl", Out: "out.jsonl", Jobs: 4, Backends: backends,
//	})
//
// A line of the input has a prompt or messages, and where wanted an id, a model, a schema and other fields of a
// request:
//
//	{"id": "7", "prompt": "Name three uses of a paper clip."}
//
// A line of the output is a [Record]. Tables, JSON arrays, plain text and lines of OpenAI's batch API are inputs too,
// see [Format]. [DryRun] tells what a run would do, and starts nothing.
//
// A run may be killed at any moment. The output says which lines are done, and a queue on the disk keeps the jobs in
// flight and the answers that are not in the output yet. The same call resumes the batch, and asks nothing again that
// was answered.
//
// The backends of Config.Backends answer in this process. With Config.Connect the workers of a queue elsewhere answer,
// see package jetstream.
package batch
