package calllog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/localfile"
)

// Answered is the Reason of a [Filter] that selects the answered calls.
const Answered call.Reason = "ok"

// Filter selects records. A zero field selects all.
type Filter struct {
	ID      string
	Since   time.Time // the earliest start
	Backend string
	Model   string
	Reason  call.Reason // of a failure, or Answered
	Failed  bool        // only failures
	Project string      // an absolute path: this directory and those below it
}

// Match reports whether the filter selects a record.
func (f Filter) Match(r Record) bool {
	return (f.ID == "" || f.ID == r.ID) && !r.Time.Before(f.Since) &&
		(f.Backend == "" || f.Backend == r.Backend) && (f.Model == "" || f.Model == r.Model) &&
		(f.Reason == "" || f.Reason == r.Reason || f.Reason == Answered && r.Reason == "") &&
		(!f.Failed || r.Reason != "") &&
		(f.Project == "" || r.Project != "" && localfile.Within(r.Project, filepath.Clean(f.Project)))
}

// Records yields the records that the filter selects, in the order in which the calls ended. It needs memory for one
// record. It yields an error for a line that is no record, and continues with the next line. It does not compare the
// hashes; see [Log.Verify]. A log that does not exist has no records.
func (l *Log) Records(f Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		files, err := segmentsIn(l.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(Record{}, err)
			return
		}
		for _, s := range files {
			for r, err := range l.recordsIn(s) {
				if (err != nil || f.Match(r)) && !yield(r, err) {
					return
				}
			}
		}
	}
}

// recordsIn yields the records of one segment.
func (l *Log) recordsIn(s segment) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		file, err := os.Open(filepath.Join(l.dir, s.name()))
		if errors.Is(err, fs.ErrNotExist) {
			return // an append has removed it
		}
		if err != nil {
			yield(Record{}, fmt.Errorf("calllog: %w", err))
			return
		}
		defer file.Close()
		number := 0
		for line, err := range linesOf(file) {
			number++
			var r Record
			if err == nil {
				r, err = parseLine(line)
			}
			if errors.Is(err, errCutOff) {
				return // an append has not finished
			}
			if err != nil {
				err = fmt.Errorf("calllog: %s, line %d: %w", s.name(), number, err)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

var errCutOff = errors.New("the last line has no line break")

// linesOf yields the lines of a file without their line breaks. A line is valid until the next one. The error is the
// last element.
func linesOf(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, maxLine+1)
		scanner.Split(func(data []byte, atEOF bool) (advance int, token []byte, err error) {
			if i := bytes.IndexByte(data, '\n'); i >= 0 {
				return i + 1, data[:i:i], nil
			}
			if atEOF && len(data) > 0 {
				return 0, nil, errCutOff
			}
			return 0, nil, nil
		})
		for scanner.Scan() {
			if !yield(scanner.Bytes(), nil) {
				return
			}
		}
		if err := scanner.Err(); err != nil {
			yield(nil, err)
		}
	}
}
