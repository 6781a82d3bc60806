package fake

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

type player struct {
	path  string // path of the fake
	steps []Step // steps of this process, for Spawn.Self
	stdin *bufio.Reader
	read  []byte       // input of the latest ReadStdin or ReadLine
	input []byte       // whole input so far, for Record
	ready func() error // tells the parent that this process has reached a waiting step
}

// exit ends the process. os.Exit would sleep for a second in binaries built with the race detector.
func exit(status int) { syscall.Exit(status) }

func playFake(path string, data []byte) {
	var s Scenario
	if err := json.Unmarshal(data, &s); err != nil {
		fail("scenario of %s: %v", path, err)
	}
	newPlayer(path, s.choose(path, os.Args[1:]), func() error { return nil }).run()
}

func (s Scenario) choose(path string, args []string) []Step {
	for i, c := range s.Cases {
		applies := len(args) >= len(c.Args) && slices.Equal(args[:len(c.Args)], c.Args)
		if applies && (!c.Once || claim(path, i)) {
			return c.Steps
		}
	}
	return s.Steps
}

// claim reports whether this call is the first to use case number i of the fake.
func claim(path string, i int) bool {
	f, err := os.OpenFile(path+sidecar+".used"+strconv.Itoa(i), os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false
	}
	if err != nil {
		fail("%v", err)
	}
	_ = f.Close()
	return true
}

// usedMarkers lists the files that claim has created for the fake at path.
func usedMarkers(path string) []string {
	names, _ := filepath.Glob(path + sidecar + ".used*") // fails only for a malformed pattern
	return names
}

func newPlayer(path string, steps []Step, ready func() error) *player {
	return &player{path: path, steps: steps, stdin: bufio.NewReader(os.Stdin), ready: ready}
}

func (p *player) run() {
	p.play(p.steps)
	p.settle()
	exit(0)
}

func (p *player) play(steps []Step) {
	for _, s := range steps {
		if err := p.do(s); err != nil {
			fail("%s: %v", p.path, err)
		}
	}
}

func (p *player) do(s Step) error {
	switch {
	case s.Stdout != "":
		return print(os.Stdout, s.Stdout, s)
	case s.Stderr != "":
		return print(os.Stderr, s.Stderr, s)
	case s.FloodStdout != 0:
		return flood(os.Stdout, s.FloodStdout)
	case s.FloodStderr != 0:
		return flood(os.Stderr, s.FloodStderr)
	case s.Sleep != 0:
		p.settle()
		time.Sleep(s.Sleep)
	case s.Hang:
		p.settle()
		for { // without another goroutine, the runtime would report select {} as a deadlock
			time.Sleep(time.Hour)
		}
	case s.Await != "":
		p.settle()
		return await(s.Await)
	case s.Echo:
		return print(os.Stdout, string(p.read), s)
	case s.ReadStdin, s.ReadLine, s.CloseStdin, len(s.EachLine) > 0, s.Record != "":
		return p.doInput(s)
	case s.CloseStdout:
		return os.Stdout.Close()
	case s.Spawn != nil:
		return p.spawn(*s.Spawn)
	case s.Open != "":
		return open(s.Open)
	case len(s.Write) > 0:
		return write(s.Write)
	case s.Exit != nil:
		p.settle()
		exit(*s.Exit)
	case len(s.Ignore) > 0, len(s.ExitOn) > 0, s.Kill != "":
		return p.doSignal(s)
	}
	return nil
}

// glance is the pause between two checks for a file.
const glance = 5 * time.Millisecond

func await(name string) error {
	for {
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		time.Sleep(glance)
	}
}

// print writes text at once, or in the chunks of the step.
func print(w io.Writer, text string, s Step) error {
	for len(text) > 0 {
		n := len(text)
		if s.Chunk > 0 {
			n = min(n, s.Chunk)
		}
		if _, err := io.WriteString(w, text[:n]); err != nil {
			return err
		}
		if text = text[n:]; text != "" {
			time.Sleep(s.Every)
		}
	}
	return nil
}

// flood writes size bytes in lines of 100 bytes, including the newline.
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

// open tries to open a file for reading and writing, and prints the result.
func write(files map[string]string) error {
	for name, content := range files {
		if content == "" {
			if err := os.Remove(name); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			return err
		}
	}
	return nil
}

func open(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		_, err = fmt.Println(err)
		return err
	}
	_ = f.Close()
	_, err = fmt.Println("opened", name)
	return err
}

func exitOn(sig os.Signal, status int) {
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, sig)
	go func() {
		<-arrived
		exit(status)
	}()
}
