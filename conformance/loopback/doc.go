// Package loopback is a model server on 127.0.0.1 for the CLIs: it speaks Anthropic Messages, OpenAI Responses, OpenAI
// chat completions and Gemini, says what a test scripted with Go values, and keeps every request for assertions.
//
//	s := loopback.New(t, loopback.InOrder(
//		loopback.Join(loopback.Thinking("hm"), loopback.Tool("Bash", map[string]any{"command": "true"})),
//		loopback.Text("done"),
//	))
//
// Nothing in a prompt controls the server: a prompt under test can hold any text.
package loopback
