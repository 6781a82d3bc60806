package calllog

import (
	"bufio"
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
		root, err := os.OpenRoot(l.dir)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				yield(Record{}, fmt.Errorf("calllog: %w", err))
			}
			return
		}
		defer root.Close()
		for _, s := range files {
			for r, err := range recordsIn(root, s) {
				if (err != nil || f.Match(r)) && !yield(r, err) {
					return
				}
			}
		}
	}
}

// recordsIn yields the records of one segment.
func recordsIn(root *os.Root, s segment) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		file, err := openSegment(root, s.name(), os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) {
			return // an append has removed it
		}
		if err != nil {
			yield(Record{}, err)
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

var (
	errCutOff  = errors.New("the last line has no line break")
	errTooLong = fmt.Errorf("the line has more than %d bytes", maxLine)
)

// linesOf yields the lines of a file without their line breaks. A line is valid until the next one. It yields an error
// instead of a line that is too long; another error is the last element.
func linesOf(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReaderSize(r, maxLine+1)
		for {
			line, err := in.ReadSlice('\n')
			if err == nil {
				if !yield(line[:len(line)-1:len(line)-1], nil) {
					return
				}
				continue
			}
			long := errors.Is(err, bufio.ErrBufferFull)
			for errors.Is(err, bufio.ErrBufferFull) {
				line, err = in.ReadSlice('\n')
			}
			switch {
			case err == nil:
				if !yield(nil, errTooLong) {
					return
				}
				continue
			case !errors.Is(err, io.EOF):
				yield(nil, err)
			case long || len(line) > 0:
				yield(nil, errCutOff)
			}
			return
		}
	}
}
