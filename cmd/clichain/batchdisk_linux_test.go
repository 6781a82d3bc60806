package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clichain/clichain/clitest"
	"github.com/stretchr/testify/require"
)

// small runs a shell script with a new file system of the given size mounted at dir.
func (w *world) small(dir, options, script string) (said string, status int) {
	w.t.Helper()
	for _, tool := range []string{"unshare", "mount", "sh", "timeout"} {
		if _, err := exec.LookPath(tool); err != nil {
			w.t.Skip(err)
		}
	}
	probe := exec.Command("unshare", "-m", "sh", "-c", "mount -t tmpfs none "+dir)
	if out, err := probe.CombinedOutput(); err != nil {
		w.t.Skipf("no separate file system here: %s", out)
	}
	script = fmt.Sprintf("mount -t tmpfs -o %s none %s && cd %s && %s", options, dir, dir, script)
	cmd := exec.Command("timeout", "120", "unshare", "-m", "sh", "-c", script)
	cmd.Env = append(slices.Clone(w.command().Env[1:]), "PATH="+w.bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		require.ErrorContains(w.t, err, "exit status")
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestBatchDiskFull checks that a full disk is reported, and that the batch resumes when the disk has space again.
func TestBatchDiskFull(t *testing.T) {
	for _, test := range []struct{ name, store string }{
		{"output", "--store " + t.TempDir()}, // the queue is on another file system
		{"output and queue", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			// The answers have 1.8 MB in total, just enough to fill the disk.
			s := scenario("claude", "answer", strings.Repeat("long ", 12_000))
			path, err := clitest.Install(w.bin, "claude", s)
			require.NoError(t, err)
			in := w.lines(30)
			kept := filepath.Join(t.TempDir(), "kept.jsonl")
			run := fmt.Sprintf("%s batch -i %s -o out.jsonl --cold --quiet %s", program(), in, test.store)
			said, status := w.small(t.TempDir(), "size=1m", strings.Join([]string{
				run + "; echo first $?",
				"mount -o remount,size=200m .",
				run + "; echo second $?",
				"cat out.jsonl > " + kept,
			}, "; "))
			t.Log(said)
			require.Zero(t, status)
			require.Contains(t, said, "is full: free some space and run the same command again; no answers are lost")
			require.Contains(t, said, "first 1")
			require.Contains(t, said, "second 0")
			all := idsOf(records(t, kept))
			require.Len(t, all, 30)
			require.Empty(t, clitest.Survivors(path))
		})
	}
}

// TestBatchReadOnly checks that a read-only directory is reported.
func TestBatchReadOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fake("claude", "answer", "no")
	said, status := w.small(t.TempDir(), "ro", program()+" batch --cold --quiet -o out.jsonl -i "+w.lines(1))
	require.Equal(t, 1, status)
	require.Contains(t, said, "clichain: out.jsonl: the file system is read-only: mount it for writing or choose another")
}
