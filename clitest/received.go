package clitest

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/clitest/fake"
)

// Received is what one start of a fake was given. A plain value.
type Received struct {
	// Args are its arguments, without the program.
	Args []string
	// Stdin is all of its standard input.
	Stdin string
	// Env is its environment, by name.
	Env map[string]string
	// Dir is the directory that it was started in, without links.
	Dir string
	// Files are what the files below the folder for temporary files held that its arguments and variables named, by
	// the last part of their path, such as "system.md": those are gone after the call.
	Files map[string]string
}

// Where names all places that hold the text, such as "args[2]", "stdin", "env HOME" and "file system.md"; none for
// the empty text. A secret must be in none of them but its own variable, a prompt on stdin alone.
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

// Recorder is a fake that keeps what each of its starts has received. It reads its standard input to the end before it
// plays its scenario, so it is no fake for the live mode. Make one with [NewRecorder].
type Recorder struct {
	Path string // of the fake
	t    TB
	dir  string
}

// NewRecorder installs a fake that plays s, as [Fake] does, and records each of its starts.
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

// Received returns what the starts so far were given, in their order. It ends the test if that cannot be read. The
// starts of a call are all there when the call has returned.
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

// Once returns what the only start so far was given. It ends the test if there was none, or more than one.
func (r *Recorder) Once() Received {
	r.t.Helper()
	all := r.Received()
	if len(all) != 1 {
		r.t.Fatalf("clitest: %s was started %d times, not once", filepath.Base(r.Path), len(all))
	}
	return all[0]
}

func received(record Record) Received {
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
