package clitest

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/clitest/fake"
)

// Received is the input of one start of a fake. It is a plain value.
type Received struct {
	// Args are the arguments without the program.
	Args []string
	// Stdin is the whole standard input.
	Stdin string
	// Env is the environment, by name.
	Env map[string]string
	// Dir is the working directory, with symbolic links resolved.
	Dir string
	// Files maps base names, such as "system.md", to the contents of files below the temporary directory that the
	// arguments and variables name. The call deletes these files.
	Files map[string]string
}

// Where returns all places that contain the text, such as "args[2]", "stdin", "env HOME" and "file system.md". It
// returns none for an empty text. A secret should appear only in its own variable, and a prompt only on stdin.
func (r Received) Where(text string) (places []string) {
	look := func(place, in string) {
		if text != "" && strings.Contains(in, text) {
			places = append(places, place)
		}
	}
	for i, arg := range r.Args {
		look(fmt.Sprintf("args[%d]", i), arg)
	}
	look("stdin", r.Stdin)
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		look("env "+name, name+"="+r.Env[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		look("file "+name, r.Files[name])
	}
	return places
}

// Recorder is a fake that stores the input of each start. It reads its standard input to the end before it plays its
// scenario, so it does not support the live mode. Create one with [NewRecorder].
type Recorder struct {
	Path string // path of the fake
	t    TB
	dir  string
}

// NewRecorder installs a fake that plays s, like [Fake], and records each start.
func NewRecorder(t TB, name string, s Scenario) *Recorder {
	t.Helper()
	r := &Recorder{t: t, dir: t.TempDir()}
	record := func(steps []Step) []Step { return append([]Step{{Record: r.dir}}, steps...) }
	s.Steps, s.Cases = record(s.Steps), slices.Clone(s.Cases)
	for i := range s.Cases {
		s.Cases[i].Steps = record(s.Cases[i].Steps)
	}
	r.Path = Fake(t, name, s)
	return r
}

// Received returns the input of all starts so far, in order. It fails the test on error. After a call has returned, all
// its starts are recorded.
func (r *Recorder) Received() []Received {
	r.t.Helper()
	records, err := fake.ReadRecords(r.dir)
	if err != nil {
		r.t.Fatalf("clitest: %v", err)
	}
	var all []Received
	for _, record := range records {
		all = append(all, received(record))
	}
	return all
}

// Once returns the input of the only start so far. It fails the test if there was no start, or more than one.
func (r *Recorder) Once() Received {
	r.t.Helper()
	all := r.Received()
	if len(all) != 1 {
		r.t.Fatalf("clitest: %s was started %d times, not once", filepath.Base(r.Path), len(all))
	}
	return all[0]
}

func received(record fake.Record) Received {
	got := Received{Stdin: string(record.Stdin), Dir: record.Dir, Env: map[string]string{}, Files: map[string]string{}}
	if len(record.Args) > 0 {
		got.Args = record.Args[1:]
	}
	for _, kv := range record.Env {
		name, value, _ := strings.Cut(kv, "=")
		got.Env[name] = value
	}
	for path, data := range record.Contents {
		got.Files[filepath.Base(path)] = string(data)
	}
	return got
}
