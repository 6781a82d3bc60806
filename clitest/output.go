package clitest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"
)

// print writes text at once or in the chunks that the step asks for.
func print(w io.Writer, text string, s Step) error {
	size := s.Chunk
	if size <= 0 {
		size = max(len(text), 1)
	}
	for len(text) > 0 {
		n := min(size, len(text))
		if _, err := io.WriteString(w, text[:n]); err != nil {
			return err
		}
		if text = text[n:]; text != "" {
			time.Sleep(s.Every)
		}
	}
	return nil
}

// flood writes size bytes of lines of 100 bytes, the newline included.
func flood(w io.Writer, size int64) error {
	line := append(bytes.Repeat([]byte("x"), 99), '\n')
	block := bytes.Repeat(line, 640)
	for size > 0 {
		n := min(size, int64(len(block)))
		if _, err := w.Write(block[:n]); err != nil {
			return err
		}
		size -= n
	}
	return nil
}

// open tries to open a file for reading and writing, and prints how that went.
func open(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		_, err = fmt.Println(err)
		return err
	}
	_ = f.Close() // nothing was written
	_, err = fmt.Println("opened", name)
	return err
}
