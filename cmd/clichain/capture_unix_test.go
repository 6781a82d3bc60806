//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// capture is a terminal that runs a program, and the content of its screen. It supports only the escape codes that
// the command may use. Any other code fails the test.
type capture struct {
	t     *testing.T
	cmd   *exec.Cmd
	width int
	tty   *os.File
	done  chan error    // the program has exited
	look  chan struct{} // the screen has changed

	mu     sync.Mutex
	raw    []byte
	lines  [][]string // the cells of each line; an empty cell follows a wide character
	column int
}

// onScreen starts the command on a terminal of a given width. It keeps the streams that are already set.
func onScreen(t *testing.T, cmd *exec.Cmd, width int) *capture {
	t.Helper()
	s := &capture{t: t, cmd: cmd, width: width, done: make(chan error, 1), look: make(chan struct{}, 1), lines: [][]string{nil}}
	var err error
	s.tty, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: uint16(width)})
	require.NoError(t, err)
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(s, s.tty) // io.Copy fails after the program has exited
	}()
	go func() {
		err := cmd.Wait()
		<-read
		s.done <- err
	}()
	t.Cleanup(func() {
		_ = s.tty.Close()
		<-read
	})
	return s
}

// Write shows the output of the program.
func (s *capture) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw = append(s.raw, data...)
	for text := data; len(text) > 0; {
		text = text[s.show(text):]
	}
	select {
	case s.look <- struct{}{}:
	default:
	}
	return len(data), nil
}

var (
	paint = regexp.MustCompile(`^\x1b\[[0-9]+m`)
	back  = regexp.MustCompile(`^\x1b\[([0-9]+)F`)
)

// show interprets the first character or escape code of the text, and returns its length.
func (s *capture) show(text []byte) int {
	line := &s.lines[len(s.lines)-1]
	switch r, size := utf8.DecodeRune(text); {
	case r == '\r':
		s.column = 0
		return 1
	case r == '\n': // the terminal has already written a carriage return
		s.lines = append(s.lines, nil)
		return 1
	case back.Match(text): // a drawing erases the rest of the screen after it has moved back
		code := back.FindSubmatch(text)
		n, _ := strconv.Atoi(string(code[1]))
		s.lines, s.column = s.lines[:max(len(s.lines)-n, 1)], 0
		return len(code[0])
	case bytes.HasPrefix(text, []byte("\x1b[K")), bytes.HasPrefix(text, []byte("\x1b[J")):
		*line = (*line)[:min(s.column, len(*line))]
		return 3
	case paint.Match(text):
		return len(paint.Find(text))
	case r < ' ' || 0x7f <= r && r < 0xa0 || r == utf8.RuneError && size == 1:
		s.t.Errorf("the terminal gets %q", text[:min(len(text), 20)])
		return size
	default:
		s.put(string(r))
		return size
	}
}

func (s *capture) put(r string) {
	width := terminal.Width(r)
	if s.column+width > s.width {
		s.lines, s.column = append(s.lines, nil), 0
	}
	line := &s.lines[len(s.lines)-1]
	for len(*line) < s.column+width {
		*line = append(*line, " ")
	}
	for i := range width {
		(*line)[s.column+i] = map[bool]string{true: r}[i == 0]
	}
	s.column += width
}

// text returns the content of the screen.
func (s *capture) text() string {
	var b strings.Builder
	for _, line := range s.lines {
		b.WriteString(strings.TrimRight(strings.Join(line, ""), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// wholeLines matches an output that does not end within a line, which may arrive in several writes. A question ends with
// its answers.
var wholeLines = regexp.MustCompile(`(\x1b\[K|\n|\[y/N\] )$`)

// await waits until the screen matches a pattern, and returns the content of the screen.
func (s *capture) await(form string) string {
	s.t.Helper()
	want := regexp.MustCompile(form)
	limit := time.After(consoletest.Patience)
	for {
		s.mu.Lock()
		now, raw := s.text(), string(s.raw)
		s.mu.Unlock()
		if wholeLines.MatchString(raw) && want.MatchString(now) {
			return now
		}
		select {
		case <-s.look:
		case err := <-s.done:
			require.FailNow(s.t, "ended before it showed "+form, "%v\n%s", err, now)
		case <-limit:
			require.FailNow(s.t, "never showed "+form, "%s\n%q", now, raw)
		}
	}
}

// end waits until the program exits, and returns the content of the screen and all output.
func (s *capture) end(status int) (text, raw string) {
	s.t.Helper()
	select {
	case <-s.done:
		s.mu.Lock()
		defer s.mu.Unlock()
		require.Equal(s.t, status, s.cmd.ProcessState.ExitCode(), "%s", s.raw)
		return s.text(), string(s.raw)
	case <-time.After(consoletest.Patience):
		require.FailNow(s.t, "it does not end")
	}
	return "", ""
}

var (
	durations = regexp.MustCompile(` *\b[0-9]+(\.[0-9]+)? m?s\b`)
	moments   = regexp.MustCompile(`\b[0-9]{2}:[0-9]{2}\b`)
	barShapes = regexp.MustCompile(` [█▏▎▍▌▋▊▉]+ *`)
	noBarYet  = regexp.MustCompile(`(?m)^(  [a-z]+) +0 ms`)
)

// timeless returns a screen without durations and other values that differ between runs.
func timeless(text string) string {
	text = unstable.ReplaceAllString(text, `"duration_ms":0`)
	text = noBarYet.ReplaceAllString(text, "$1  █ 0 ms")
	text = moments.ReplaceAllString(barShapes.ReplaceAllString(text, " █ "), "12:00")
	return durations.ReplaceAllString(text, " 0 s")
}
