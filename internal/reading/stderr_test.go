package reading

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/specs"
)

// Lines of stderr are read in place, not copied.
func TestStderrIsNotCopied(t *testing.T) {
	spec := specs.Claude()
	r := &Reading{
		Name: spec.Name, Program: decode.Compile(spec.Events), Judge: judge.New(&spec), Output: clispec.OutputStream,
		Emit: func(call.Event) {}, Stop: func(error) {}, Ended: func() bool { return false },
	}
	_, stderr := r.Streams()
	const size, lines = 32 << 20, 32 // long lines, because a search allocates independently of the length
	text := []byte(strings.Repeat(strings.Repeat("x", size/lines-1)+"\n", lines))
	_, _ = stderr.Write(text[:size/lines]) // compiles the patterns
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = stderr.Write(text)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size/2), "bytes")
}

// A finding in a line of stderr stays valid when the memory of the line is reused.
func TestFindingsOfStderrAreCopied(t *testing.T) {
	spec := specs.Claude()
	spec.Lines = append([]clispec.LineRule{{Pattern: `^notice:(?P<message>\S+)$`, Kind: call.EventWarning}}, spec.Lines...)
	var heard []judge.Sign
	var got []call.Event
	r := &Reading{
		Name: spec.Name, Program: decode.Compile(spec.Events), Judge: judge.New(&spec), Output: clispec.OutputStream,
		Emit: func(e call.Event) { got = append(got, e) }, Heard: func(s *judge.Sign) { heard = append(heard, *s) },
		Stop: func(error) {}, Ended: func() bool { return false },
	}
	_, stderr := r.Streams()
	line := []byte("notice:oneword\n")
	_, _ = stderr.Write(line)
	copy(line, strings.Repeat("z", len(line)))
	require.Len(t, got, 1)
	require.Equal(t, "oneword", got[0].Message)
	require.Equal(t, "oneword", heard[0].Found.Message)
}
