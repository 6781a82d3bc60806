package reading

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/plaintext"
)

// pathSize is the number of bytes that one iteration of BenchmarkWholePath reads: several pools of a few MB.
const pathSize = 16 << 20

// poolOf returns a few MB of a CLI's lines of one size: text, or calls of a tool that prints 64 KB.
func (s *streamOf) poolOf(size string) []byte {
	var b bytes.Buffer
	out := jsonText(outputText(64 << 10))
	for i := 0; b.Len() < pathSize/4-1<<19; i++ {
		if size == "small" {
			b.WriteString(s.word(i%100) + "\n")
		} else {
			b.WriteString(s.tool(0, out) + "\n")
		}
	}
	return b.Bytes()
}

// piped returns the read end of a pipe that repeats a pool endlessly.
func piped(tb testing.TB, pool []byte) *os.File {
	from, to, err := os.Pipe()
	require.NoError(tb, err)
	go func() {
		for range pathSize / len(pool) {
			_, _ = to.Write(pool)
		}
		_ = to.Close()
	}()
	return from
}

// pathOf returns a func that reads like a Provider.
func (s *streamOf) pathOf() func(from io.Reader, emit func(call.Event)) {
	spec := s.spec()
	program, j := decode.Compile(spec.Events), judge.New(&spec)
	return func(from io.Reader, emit func(call.Event)) {
		r := &Reading{
			Name: spec.Name, Program: program, Judge: j, Output: clispec.OutputStream, Answer: spec.Answer,
			Tools: spec.ToolEventsIn(clispec.OutputStream), KeepCommentary: true, // otherwise codex's text is withheld until the end
			Secrets: plaintext.NewRedactor([]string{"OTHER_API_KEY=key-of-a-benchmark"}),
			Emit:    emit, Stop: func(error) {}, Ended: func() bool { return false },
		}
		stdout, _ := r.Streams()
		_, _ = io.CopyBuffer(stdout, from, make([]byte, 64<<10))
		_ = stdout.Close()
	}
}

// scan reads with the standard library alone.
func (s *streamOf) scan(from io.Reader, emit func(call.Event)) {
	scanner := bufio.NewScanner(from)
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		if json.Unmarshal(scanner.Bytes(), s.typed()) == nil {
			emit(call.Event{})
		}
	}
}

// BenchmarkWholePath reads a pipe into events in a loop over a stream, with small and with large events. For
// comparison, the standard library decodes the same pipe into structs that take the same path.
func BenchmarkWholePath(b *testing.B) {
	for _, size := range []string{"small", "large"} {
		for _, name := range []string{"claude", "codex", "gemini", "opencode"} {
			s := streams[name]
			pool := s.poolOf(size)
			b.Run(size+"/"+name+"/clichain", func(b *testing.B) { handOver(b, pool, s.pathOf()) })
			b.Run(size+"/"+name+"/encoding-json", func(b *testing.B) { handOver(b, pool, s.scan) })
		}
	}
}

func handOver(b *testing.B, pool []byte, read func(from io.Reader, emit func(call.Event))) {
	b.SetBytes(int64(pathSize / len(pool) * len(pool)))
	b.ReportAllocs()
	for b.Loop() {
		from := piped(b, pool)
		events := 0
		for range call.Stream(b.Context(), func(_ context.Context, emit func(call.Event)) (*call.Response, error) {
			read(from, emit)
			return new(call.Response), nil
		}) {
			events++
		}
		require.Greater(b, events, bytes.Count(pool, []byte("\n"))/2)
		_ = from.Close()
	}
}
