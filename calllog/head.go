package calllog

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/clichain/clichain/internal/localfile"
)

// head is what the log must contain. Each append replaces its file twice. The first head has the hash of the line that
// follows, and the second one counts the line. So a process that is killed leaves a head that describes the unfinished
// append. Every other difference between the head and the files is a change by another program.
type head struct {
	Version  int       `json:"version"`
	Segments []segment `json:"segments"`       // oldest first; the last one gets the next line
	Count    int64     `json:"count"`          // records since the log began, with the removed ones
	Hash     string    `json:"hash"`           // of the last line
	Next     *next     `json:"next,omitempty"` // the line of an append in progress
}

// segment is a file of lines.
type segment struct {
	Number int64     `json:"number"`
	Begun  time.Time `json:"begun"`
	First  int64     `json:"first"`  // records before it
	Before string    `json:"before"` // hash of the line before its first line
	Bytes  int64     `json:"bytes"`
	Lost   bool      `json:"lost,omitempty"` // its head was missing or damaged, so its lines cannot be verified
}

// next is a line that is not counted yet.
type next struct {
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"` // with the line break
}

const (
	headVersion = 1
	headName    = "head"
	newHead     = ".new" // suffix
	maxHead     = 64 << 10
)

var errDamagedHead = errors.New("the head is damaged")

// valid reports whether the numbers make sense, so that sums of them do not overflow.
func (s segment) valid() bool {
	const most = 1 << 40
	return s.Number > 0 && s.Number < most && s.Bytes >= 0 && s.Bytes < most
}

func (s segment) name() string { return fmt.Sprintf("%08d.jsonl", s.Number) }

// last returns the segment that gets the next line, or nil.
func (h *head) last() *segment {
	if len(h.Segments) == 0 {
		return nil
	}
	return &h.Segments[len(h.Segments)-1]
}

// commit counts the next line.
func (h *head) commit() {
	h.last().Bytes += h.Next.Bytes
	h.Count++
	h.Hash, h.Next = h.Next.Hash, nil
}

// prepare begins a new segment if the last one is full, missing or old, and removes segments that exceed the limits.
// The next line has the given size.
func (h *head) prepare(dir string, bytes int64, cfg Config, now time.Time) error {
	last := h.last()
	full := func() bool {
		return last.Bytes+bytes > cfg.MaxBytes/segments || now.Sub(last.Begun) > cfg.MaxAge/segments
	}
	if last == nil || last.Bytes > 0 && full() {
		if err := h.begin(dir, now); err != nil {
			return err
		}
	}
	total := bytes
	for _, s := range h.Segments {
		total += s.Bytes
	}
	for len(h.Segments) > 1 && (total > cfg.MaxBytes || now.Sub(h.Segments[0].Begun) > cfg.MaxAge ||
		len(h.Segments) > maxSegments) {
		total -= h.Segments[0].Bytes
		h.Segments = slices.Delete(h.Segments, 0, 1)
	}
	return nil
}

const (
	segments    = 8  // the number of segments into which the limits divide a log
	maxSegments = 64 // limits the size of the head, because other programs can cause new segments
)

// begin adds an empty segment with a number that no file has.
func (h *head) begin(dir string, now time.Time) error {
	files, err := segmentsIn(dir)
	if err != nil {
		return err
	}
	number := int64(1)
	if len(files) > 0 {
		number = files[len(files)-1].Number + 1
	}
	if last := h.last(); last != nil {
		number = max(number, last.Number+1)
	}
	h.Segments = append(h.Segments, segment{Number: number, Begun: now.UTC(), First: h.Count, Before: h.Hash})
	return nil
}

// segmentsIn lists the files of lines in a directory, in the order of their numbers.
func segmentsIn(dir string) (list []segment, err error) {
	entries, err := localfile.List(dir, 0)
	if err != nil {
		return nil, fmt.Errorf("calllog: %w", err)
	}
	for _, entry := range entries {
		var s segment
		if n, _ := fmt.Sscanf(entry.Name(), "%d.jsonl", &s.Number); n != 1 || s.name() != entry.Name() || !s.valid() {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process has removed it
		}
		if err != nil {
			return nil, fmt.Errorf("calllog: %w", err)
		}
		s.Begun, s.Bytes, s.Lost = info.ModTime().UTC(), info.Size(), true
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b segment) int { return int(a.Number - b.Number) })
	return list, nil
}

// errNoFile is wrapped by the errors for a segment that is a link, a pipe or a directory. A pipe would block.
var errNoFile = errors.New("is not a regular file")

// openSegment opens the file of a segment in the directory of the log.
func openSegment(root *os.Root, name string, flags int) (*os.File, error) {
	info, err := root.Lstat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("calllog: %s %w", filepath.Join(root.Name(), name), errNoFile)
	case err == nil || errors.Is(err, fs.ErrNotExist):
		var file *os.File
		if file, err = root.OpenFile(name, flags, 0o600); err == nil {
			return file, nil
		}
	}
	return nil, fmt.Errorf("calllog: %w", err)
}

// readHead reads the head. The error wraps [fs.ErrNotExist] or errDamagedHead if there is no valid head.
func readHead(dir string) (*head, error) {
	path := filepath.Join(dir, headName)
	data, err := localfile.ReadOwn(path, maxHead)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = localfile.ReadOwn(path+newHead, maxHead)
	}
	if errors.Is(err, localfile.ErrTooBig) {
		err = fmt.Errorf("%w: %w", errDamagedHead, err)
	}
	if err != nil {
		return nil, fmt.Errorf("calllog: %w", err)
	}
	text, sum, _ := bytes.Cut(data, []byte("\n"))
	h := &head{}
	if string(sum) != checksum(text) || json.Unmarshal(text, h) != nil || !h.valid() {
		return nil, fmt.Errorf("calllog: %w", errDamagedHead)
	}
	if h.Version != headVersion {
		return nil, fmt.Errorf("calllog: the log has version %d: use a newer clichain", h.Version)
	}
	return h, nil
}

// valid reports whether the numbers of a head make sense.
func (h *head) valid() bool {
	for _, s := range h.Segments {
		if !s.valid() {
			return false
		}
	}
	return h.Next == nil || h.Next.Bytes > 0 && h.Next.Bytes <= maxLine+1 && len(h.Segments) > 0
}

// save replaces the head. The caller holds the lock. If a rename replaces a file, some file systems write the new file
// to the disk first, which takes milliseconds. So save removes the old file before the rename. A process that is killed
// in between leaves the new file, which readHead finds.
func (h *head) save(root *os.Root) error {
	h.Version = headVersion
	text, err := json.Marshal(h)
	if err == nil {
		err = root.WriteFile(headName+newHead, append(append(text, '\n'), checksum(text)...), 0o600)
	}
	if err == nil {
		if err = root.Remove(headName); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = root.Rename(headName+newHead, headName)
	}
	if err != nil {
		return fmt.Errorf("calllog: %w", err)
	}
	return nil
}

func checksum(text []byte) string { return fmt.Sprintf("%x\n", sha256.Sum256(text)) }
