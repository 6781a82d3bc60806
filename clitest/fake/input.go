package fake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/clichain/clichain/internal/leaks"
)

// Record is the input of a fake at its start, as stored by a Record step.
type Record struct {
	Args  []string `json:"args"` // including the program name
	Env   []string `json:"env"`
	Dir   string   `json:"dir"`
	Stdin []byte   `json:"stdin"` // whole input; base64 in the file
	Pid   int      `json:"pid"`
	Group int      `json:"group"` // process group, 0 on systems without groups
	Sess  int      `json:"sess"`  // session, 0 on systems without sessions
	Files []string `json:"files"` // open descriptors and their targets, on systems with /proc
	// Contents maps paths to the contents of the regular files below the temporary directory that the arguments and
	// variables name.
	Contents map[string][]byte `json:"contents"`
}

// ReadRecord reads the file that a Record step has written.
func ReadRecord(path string) (r Record, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err = json.Unmarshal(data, &r); err != nil {
		err = fmt.Errorf("clitest: record %s: %w", path, err)
	}
	return r, err
}

func (p *player) doInput(s Step) error {
	p.settle()
	switch {
	case s.CloseStdin:
		return os.Stdin.Close()
	case s.ReadLine:
		return p.readLine()
	case len(s.EachLine) > 0:
		return p.eachLine(s.EachLine)
	case s.Record != "":
		return p.record(s.Record)
	}
	return p.readAll()
}

func (p *player) readAll() (err error) {
	p.read, err = io.ReadAll(p.stdin)
	p.input = append(p.input, p.read...)
	return err
}

func (p *player) readLine() (err error) {
	p.read, err = p.stdin.ReadBytes('\n')
	p.input = append(p.input, p.read...)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (p *player) eachLine(steps []Step) error {
	for {
		if err := p.readLine(); err != nil || len(p.read) == 0 {
			return err
		}
		p.play(steps)
	}
}

// ReadRecords reads the files that Record steps have written to a directory, in the order of the starts.
func ReadRecords(dir string) (all []Record, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, name := range names {
		r, wrong := ReadRecord(name)
		all, err = append(all, r), errors.Join(err, wrong)
	}
	return all, err
}

// record writes the file and then renames it, so that a waiting test never reads a partial file.
func (p *player) record(path string) error {
	if err := p.readAll(); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	r := Record{
		Args: os.Args, Env: os.Environ(), Dir: dir, Stdin: p.input,
		Pid: os.Getpid(), Group: getpgrp(), Sess: getsid(), Files: leaks.OpenFiles(), Contents: contents(),
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, fmt.Sprintf("%020d-%d.json", time.Now().UnixNano(), os.Getpid()))
	}
	partial := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(partial, data, 0o600); err != nil {
		return err
	}
	return os.Rename(partial, path)
}
