// Package history records the operations of several processes, for tests that check whether an order of the
// operations explains their results. It needs no clock: all processes append to one file, and the positions of the
// lines are the times. A process that is killed leaves operations without an end.
package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync/atomic"

	"github.com/clichain/clichain/internal/localfile"
)

// Log appends operations to a file. It is safe for concurrent use, also by other processes with the same file.
type Log struct {
	path    string
	process int // a random number, because systems use the ID of a process again
	next    atomic.Int64
}

// line is the begin of an operation, or its end.
type line struct {
	Process   int             `json:"process"`
	Operation int64           `json:"operation"`
	Input     json.RawMessage `json:"input,omitempty"`
	Output    json.RawMessage `json:"output,omitempty"`
}

// New returns the log of the file at path. The first operation creates the file if it is missing.
func New(path string) *Log { return &Log{path: path, process: rand.Int()} }

// Begin records that an operation begins. Call end when the operation has ended and its result is known; without that
// call, the operation may take effect at any later time, or never. Begin and end panic if they cannot write.
func (l *Log) Begin(input any) (end func(output any)) {
	n := l.next.Add(1)
	l.append(line{Operation: n, Input: encode(input)})
	return func(output any) { l.append(line{Operation: n, Output: encode(output)}) }
}

func (l *Log) append(e line) {
	e.Process = l.process
	if err := localfile.Append(l.path, append(encode(e), '\n'), math.MaxInt64); err != nil {
		panic(fmt.Sprintf("history: %v", err))
	}
}

func encode(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("history: %v", err))
	}
	return data
}

// Operation is one operation of one process.
type Operation[In, Out any] struct {
	Process int // a number of its Log
	Input   In
	Output  *Out // nil: the operation has no recorded end
	// Begin and End are positions in the file. End is [math.MaxInt64] without a recorded end.
	Begin, End int64
}

// Read returns the operations of a file in the order of their begins. It ignores a last line that is incomplete.
func Read[In, Out any](path string) ([]Operation[In, Out], error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	type id struct {
		process   int
		operation int64
	}
	var list []Operation[In, Out]
	open := map[id]int{}
	lines := bytes.SplitAfter(data, []byte("\n"))
	for i, text := range lines[:len(lines)-1] {
		var e line
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, i+1, err)
		}
		key := id{e.Process, e.Operation}
		at, known := open[key]
		switch {
		case e.Input != nil && !known:
			o := Operation[In, Out]{Process: e.Process, Begin: int64(i), End: math.MaxInt64}
			err = json.Unmarshal(e.Input, &o.Input)
			open[key] = len(list)
			list = append(list, o)
		case e.Output != nil && known && list[at].Output == nil:
			list[at].Output, list[at].End = new(Out), int64(i)
			err = json.Unmarshal(e.Output, list[at].Output)
		default:
			err = fmt.Errorf("operation %d of process %d does not begin and end once", e.Operation, e.Process)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, i+1, err)
		}
	}
	return list, nil
}
