package calllog

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Append adds a record and sets its Prev. The hooks call it for each call of a chain. It waits at most 2 s for other
// processes, and removes the records that exceed the limits of the log. A process that is killed during an append may
// lose this record; the log stays valid.
func (l *Log) Append(ctx context.Context, r Record) error {
	return l.locked(ctx, func(root *os.Root) error {
		h, err := l.current(root)
		if err != nil {
			return err
		}
		r.Prev = h.Hash
		line, err := r.line(int(min(maxLine, l.cfg.MaxBytes/segments) - 1))
		if err != nil {
			return err
		}
		h.Next = &next{Hash: hashOf(line), Bytes: int64(len(line)) + 1}
		first := h.first()
		if err := h.prepare(l.dir, h.Next.Bytes, l.cfg, l.now()); err != nil {
			return err
		}
		if err := h.save(root); err != nil {
			return err
		}
		if h.first() != first {
			removeBefore(root, l.dir, h.first())
		}
		if err := appendLine(root, h.last(), append(line, '\n')); err != nil {
			h.Next = nil
			return errors.Join(err, h.save(root))
		}
		h.commit()
		return h.save(root)
	})
}

// first returns the number of the first segment.
func (h *head) first() int64 {
	if len(h.Segments) == 0 {
		return 0
	}
	return h.Segments[0].Number
}

// removeBefore removes the files of segments that the head does not have any more. A file that cannot be removed stays
// until the next removal.
func removeBefore(root *os.Root, dir string, first int64) {
	files, _ := segmentsIn(dir)
	for _, s := range files {
		if s.Number < first {
			_ = root.Remove(s.name())
		}
	}
}

// appendLine writes a line to a segment, and removes it again if it cannot be written completely.
func appendLine(root *os.Root, s *segment, line []byte) error {
	file, err := openSegment(root, s.name(), os.O_APPEND|os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return err
	}
	if _, err = file.Write(line); err != nil {
		_ = file.Truncate(s.Bytes)
	}
	if err = cmp.Or(err, file.Close()); err != nil {
		return fmt.Errorf("calllog: %w", err)
	}
	return nil
}

// current returns the head for the next append. If the head is missing or damaged, or the last file is not as the head
// describes it, the next line goes to a new segment. The earlier files stay as they are, so that Verify finds the
// difference until the limits of the log remove them.
func (l *Log) current(root *os.Root) (*head, error) {
	h, err := readHead(l.dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errDamagedHead) {
		h = &head{}
		if h.Segments, err = segmentsIn(l.dir); err != nil || len(h.Segments) == 0 {
			return h, err
		}
		return h, h.begin(l.dir, l.now())
	}
	if err != nil || h.last() == nil {
		return h, err
	}
	return h, h.settle(root, l.dir, l.now)
}

// settle completes or removes the line of an append that was not finished. It begins a new segment if the last file was
// changed otherwise.
func (h *head) settle(root *os.Root, dir string, now func() time.Time) error {
	s := h.last()
	file, err := openSegment(root, s.name(), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) && s.Bytes == 0 {
		h.Next = nil
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoFile) {
		h.Next = nil
		return h.begin(dir, now())
	}
	if err != nil {
		return err
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("calllog: %w", err)
	}
	switch h.rest(file, size) {
	case nothing:
	case wholeLine:
		h.commit()
	case partOfLine:
		if err := file.Truncate(s.Bytes); err != nil {
			return fmt.Errorf("calllog: %w", err)
		}
	case otherwise:
		h.Next = nil
		return h.begin(dir, now())
	}
	h.Next = nil
	return nil
}

// rest is what follows the counted lines in the last segment.
type rest int

const (
	nothing    rest = iota
	wholeLine       // the next line of the head
	partOfLine      // fewer bytes than the next line of the head has
	otherwise       // bytes that no append has left, or counted bytes are missing
)

// rest compares a file of the given size with the head.
func (h *head) rest(file io.ReaderAt, size int64) rest {
	s := h.last()
	more := size - s.Bytes
	switch {
	case more == 0:
		return nothing
	case more < 0 || h.Next == nil || more > h.Next.Bytes:
		return otherwise
	}
	text := make([]byte, more)
	n, _ := file.ReadAt(text, s.Bytes)
	switch line, _, whole := bytes.Cut(text[:n], []byte("\n")); {
	case !whole && more < h.Next.Bytes:
		return partOfLine
	case int64(len(line))+1 == h.Next.Bytes && hashOf(line) == h.Next.Hash:
		return wholeLine
	}
	return otherwise
}
