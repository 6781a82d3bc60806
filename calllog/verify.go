package calllog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Report is the result of [Log.Verify].
type Report struct {
	// Records is the number of the records in the log, and Removed the number of earlier records that the limits of the
	// log removed.
	Records int64 `json:"records"`
	Removed int64 `json:"removed"`
	// Problems lists the differences between the files and the hashes, at most 20. Empty: the log is as it was written.
	Problems []Problem `json:"problems"`
	// Note explains the rest of an append that a killed process left. It is no problem: the next append completes or
	// removes it. Empty: there is none.
	Note string `json:"note,omitempty"`
}

// Problem is a difference in one file of the log.
type Problem struct {
	File string `json:"file"`
	Line int64  `json:"line,omitempty"` // from 1; 0: the whole file
	Text string `json:"text"`
}

// String returns the place and the text.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s, line %d: %s", p.File, p.Line, p.Text)
}

const maxProblems = 20

// Verify compares the log with its hashes. It blocks appends only while it opens the files. A log that does not exist
// has no problems.
func (l *Log) Verify(ctx context.Context) (*Report, error) {
	if _, err := os.Lstat(l.dir); errors.Is(err, fs.ErrNotExist) {
		return &Report{Problems: []Problem{}}, nil
	}
	v := &verification{Report: Report{Problems: []Problem{}}}
	defer v.close()
	if err := l.locked(ctx, func(root *os.Root) error { return v.open(root, l.dir) }); err != nil {
		return nil, err
	}
	for i := range v.files {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		v.segment(i)
	}
	return &v.Report, nil
}

// verification is a Report in progress, with the state of the log at one time.
type verification struct {
	Report
	head  head
	files []snapshot
}

// snapshot is an open segment.
type snapshot struct {
	segment
	file     *os.File // nil: missing
	size     int64
	replaced bool   // it is not a file any more
	count    int64  // records that it must have
	hash     string // of its last line
}

func (v *verification) add(file string, line int64, format string, args ...any) {
	if len(v.Problems) < maxProblems {
		v.Problems = append(v.Problems, Problem{file, line, fmt.Sprintf(format, args...)})
	}
}

func (v *verification) close() {
	for _, s := range v.files {
		if s.file != nil {
			_ = s.file.Close()
		}
	}
}

// open reads the head and opens the segments.
func (v *verification) open(root *os.Root, dir string) error {
	found, err := segmentsIn(dir)
	if err != nil {
		return err
	}
	h, err := readHead(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(found) == 0:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		v.add(headName, 0, "the file is missing, so that the records cannot be verified")
		return nil
	case errors.Is(err, errDamagedHead):
		v.add(headName, 0, "the file was changed, so that the records cannot be verified")
		return nil
	case err != nil:
		return err
	}
	v.head = *h
	for i, s := range h.Segments {
		snap := snapshot{segment: s, count: h.Count - s.First, hash: h.Hash}
		if i+1 < len(h.Segments) {
			snap.count, snap.hash = h.Segments[i+1].First-s.First, h.Segments[i+1].Before
		}
		snap.file, err = openSegment(root, s.name(), os.O_RDONLY)
		if err == nil {
			snap.size, err = snap.file.Seek(0, io.SeekEnd)
		}
		if snap.replaced = errors.Is(err, errNoFile); err != nil && !snap.replaced && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		v.files = append(v.files, snap)
	}
	for _, s := range found {
		if last := h.last(); last == nil || s.Number > last.Number {
			v.add(s.name(), 0, "the file was added")
		}
	}
	return nil
}

// segment verifies one segment.
func (v *verification) segment(i int) {
	s := v.files[i]
	switch {
	case s.Lost:
		v.add(s.name(), 0, "its head was missing or damaged, so that its records cannot be verified")
		return
	case s.replaced:
		v.add(s.name(), 0, "it is not a regular file; it had %d records", s.count)
		return
	case s.file == nil && s.Bytes > 0:
		v.add(s.name(), 0, "the file is missing; it had %d records", s.count)
		return
	case s.file == nil:
		v.note(nothing)
		return
	}
	if i == 0 {
		v.Removed = s.First
	}
	v.lines(s)
	after := otherwise
	if i+1 == len(v.files) {
		after = v.head.rest(s.file, s.size)
		v.note(after)
	}
	switch {
	case s.size < s.Bytes:
		v.add(s.name(), 0, "%d bytes were cut off the end", s.Bytes-s.size)
	case s.size > s.Bytes && after == otherwise:
		v.add(s.name(), 0, "%d bytes were added at the end", s.size-s.Bytes)
	}
}

// note explains the rest of an append.
func (v *verification) note(r rest) {
	if v.head.Next == nil {
		return
	}
	switch r {
	case nothing:
		v.Note = "a process ended before it wrote its record, which is lost"
	case wholeLine:
		v.Note = "a process ended after it wrote its record; the next append counts the record"
	case partOfLine:
		v.Note = "a process ended while it wrote its record, which is lost"
	}
}

// lines compares the hashes of the counted lines of a segment.
func (v *verification) lines(s snapshot) {
	before, number := s.Before, int64(0)
	for line, err := range linesOf(io.NewSectionReader(s.file, 0, min(s.size, s.Bytes))) {
		if number++; err != nil {
			v.add(s.name(), number, "the line cannot be read: %v", err)
			return
		}
		if !follows(line, before) {
			v.add(s.name(), number, "the line or the line before was changed, moved or removed")
		}
		v.Records++
		before = hashOf(line)
	}
	if number != s.count {
		v.add(s.name(), 0, "the file has %d records instead of %d", number, s.count)
	} else if before != s.hash {
		v.add(s.name(), number, "the line was changed")
	}
}
