package batch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

const (
	// maxLine bounds a line of the input, far above what any model takes.
	maxLine = 16 << 20
	// maxShown is how much of a line that is too long is kept, to recognize it.
	maxShown = 1 << 10
)

// rawLine is one line of a file, without its end.
type rawLine struct {
	number int // from 1
	text   []byte
	long   bool // the line is longer than the bound, and text its beginning

	mistake error // why text is no request, though the lines after it may be
}

// rawLines yields the lines of r that are not blank. One longer than bound is passed over without being held. A byte
// order mark at the beginning is no part of the first line. The text is valid until the next step.
func rawLines(r io.Reader, bound int) iter.Seq2[rawLine, error] {
	return func(yield func(rawLine, error) bool) {
		buffered := bufio.NewReaderSize(r, 64<<10)
		var text []byte
		for number := 1; ; number++ {
			var long bool
			var err error
			text, long, err = readLine(buffered, text[:0], bound)
			if number == 1 {
				text = bytes.TrimPrefix(text, []byte("\ufeff"))
			}
			line := rawLine{number: number, text: bytes.TrimSuffix(text, []byte("\r")), long: long}
			if len(bytes.TrimSpace(text)) > 0 && !yield(line, nil) {
				return
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(rawLine{number: number}, err)
				}
				return
			}
		}
	}
}

// readLine reads to the end of a line. What is over the bound is dropped.
func readLine(r *bufio.Reader, text []byte, bound int) (_ []byte, long bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		ended := err == nil
		if ended {
			piece = piece[:len(piece)-1]
		}
		if !long && len(text)+len(piece) > bound {
			long = true
			text = append(text, piece...)
			text = text[:min(len(text), maxShown)]
		} else if !long {
			text = append(text, piece...)
		}
		if ended || !errors.Is(err, bufio.ErrBufferFull) {
			return text, long, err
		}
	}
}

// countLines counts the lines that are not blank, as far as it can read.
func countLines(r io.Reader, ended func() bool) (n int, whole bool) {
	for _, err := range rawLines(r, maxShown) {
		if err != nil || ended() {
			return n, false
		}
		n++
	}
	return n, true
}
