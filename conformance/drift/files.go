package drift

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
)

const (
	// chunk is the number of bytes that are searched at once. The next chunk starts with the last overlap bytes of the
	// previous one. No name and no match of a pattern is longer than overlap.
	chunk   = 8 << 20
	overlap = 512
)

// Search searches files for names, and for the matches of the first group of a pattern, which may be nil.
func Search(files, names []string, pattern *regexp.Regexp) (found map[string]bool, listed []string, err error) {
	s := search{names: names, pattern: pattern, found: map[string]bool{}, listed: map[string]bool{}}
	for _, file := range files {
		if err := s.file(file); err != nil {
			return nil, nil, err
		}
	}
	for name := range s.listed {
		listed = append(listed, name)
	}
	return s.found, sorted(listed), nil
}

type search struct {
	names         []string
	pattern       *regexp.Regexp
	found, listed map[string]bool
}

func (s *search) file(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	buffer, kept := make([]byte, chunk), 0
	for {
		n, err := io.ReadFull(f, buffer[kept:])
		s.part(buffer[:kept+n])
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
		kept = copy(buffer, buffer[chunk-overlap:])
	}
}

func (s *search) part(text []byte) {
	for _, name := range s.names {
		if !s.found[name] && bytes.Contains(text, []byte(name)) {
			s.found[name] = true
		}
	}
	if s.pattern == nil {
		return
	}
	for _, m := range s.pattern.FindAllSubmatch(text, -1) {
		s.listed[string(m[1])] = true
	}
}
