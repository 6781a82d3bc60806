package batch

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/batch/internal/disk"
	"github.com/clichain/clichain/batch/internal/input"
)

const badOne = `{"line":3,"error":"is no JSON","input":"{"}` + "\n"

func TestBadLines(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.jsonl")
	cfg := &Config{Out: out}
	run := func(add bool) {
		b, err := openBadLines(cfg)
		require.NoError(t, err)
		if add {
			require.NoError(t, b.add(input.Line{Number: 3, Text: []byte(`{"x":"`)}, errTwice))
		}
		require.NoError(t, b.close(true))
	}
	for range 2 { // each run overwrites the file
		run(true)
		data, err := os.ReadFile(out + ".bad.jsonl")
		require.NoError(t, err)
		require.Equal(t, `{"line":3,"error":"`+errTwice.Error()+`","input":"{\"x\":\""}`+"\n", string(data))
	}
	run(false)
	require.NoFileExists(t, out+".bad.jsonl")
	cfg.Bad = filepath.Join(t.TempDir(), "bad")
	run(false)
	require.FileExists(t, cfg.Bad)
	run(true)
	run(false)
	require.Empty(t, mustRead(t, cfg.Bad), "the lines of an earlier run go")

	var reported []string
	b, err := openBadLines(&Config{Out: disk.Stream, OnBadLine: func(number int, err error) error {
		reported = append(reported, fmt.Sprint(number, " ", err))
		return syscall.ENOSPC
	}})
	require.NoError(t, err)
	require.ErrorIs(t, b.add(input.Line{Number: 3}, errTwice), syscall.ENOSPC)
	require.Equal(t, []string{"3 " + errTwice.Error()}, reported)
	b, err = openBadLines(&Config{Out: disk.Stream})
	require.NoError(t, err)
	require.NoError(t, b.add(input.Line{Number: 3}, errTwice))
}

// badPlace runs test with the bad lines in the file that Config.Bad names, and in OUT.bad.jsonl.
func badPlace(t *testing.T, test func(t *testing.T, cfg *Config, bad string)) {
	for _, given := range []bool{false, true} {
		name := map[bool]string{false: "OUT.bad.jsonl", true: "--bad"}[given]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := batchOf(t, question("a"))
			bad := cfg.Out + ".bad.jsonl"
			if given {
				bad = filepath.Join(t.TempDir(), "notes.txt")
				cfg.Bad = bad
			}
			test(t, cfg, bad)
		})
	}
}

// A batch neither truncates nor removes a file that no batch of this user has written, with or without a bad line.
func TestBadLinesRejectForeignFile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text string }{
		{"prose", "Dear John,\n"},
		{"prose without a newline", "Dear John"},
		{"records", first + second},
		{"other JSON with a line number", `{"line":1,"text":"x"}` + "\n"},
		{"prose after bad lines", badOne + "Dear John,\n"},
		{"prose after bad lines, without a newline", badOne + "Dear John"},
	} {
		for _, input := range []string{question("a"), "{no JSON\n"} {
			t.Run(test.name+", "+input[:4], func(t *testing.T) {
				t.Parallel()
				badPlace(t, func(t *testing.T, cfg *Config, bad string) {
					require.NoError(t, os.WriteFile(bad, []byte(test.text), 0o600))
					refused(t, cfg, input, bad, "was not written by a batch")
					require.Equal(t, test.text, string(mustRead(t, bad)))
				})
			})
		}
	}
}

// refused runs a batch that must not start.
func refused(t *testing.T, cfg *Config, input string, want ...string) {
	t.Helper()
	cfg.Stdin = bytes.NewReader([]byte(input))
	s, err := Run(t.Context(), cfg)
	require.ErrorAs(t, err, new(*Mistake))
	require.Nil(t, s)
	for _, text := range append(want, "--bad") {
		require.ErrorContains(t, err, text)
	}
}

func TestBadLinesDoNotFollowLinks(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Dear John,\n", badOne, "", "missing"} {
		for _, input := range []string{question("a"), "{no JSON\n"} {
			t.Run(text+input[:4], func(t *testing.T) {
				t.Parallel()
				badPlace(t, func(t *testing.T, cfg *Config, bad string) {
					target := filepath.Join(t.TempDir(), "target")
					if text != "missing" {
						require.NoError(t, os.WriteFile(target, []byte(text), 0o600))
					}
					require.NoError(t, os.Symlink(target, bad))
					refused(t, cfg, input, bad, "is a symbolic link")
					got, err := os.Readlink(bad)
					require.NoError(t, err)
					require.Equal(t, target, got)
					if text == "missing" {
						require.NoFileExists(t, target)
					} else {
						require.Equal(t, text, string(mustRead(t, target)))
					}
				})
			})
		}
	}
}

func TestBadLinesRejectFileOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can change the owner of a file")
	}
	badPlace(t, func(t *testing.T, cfg *Config, bad string) {
		require.NoError(t, os.WriteFile(bad, []byte(badOne), 0o666))
		require.NoError(t, os.Chown(bad, 12345, 12345))
		refused(t, cfg, "{no JSON\n", bad, "uid 12345")
		require.Equal(t, badOne, string(mustRead(t, bad)))
	})
}

// A killed run may leave an incomplete line. The next run of the batch overwrites the file.
func TestBadLinesOverwriteFileOfKilledRun(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]string{
		"complete lines": badOne + badOne, "incomplete line": badOne + badOne[:20], "first bytes of a line": `{"l`,
		"zeros": badOne + badOne[:20] + "\x00\x00", "empty file": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			badPlace(t, func(t *testing.T, cfg *Config, bad string) {
				require.NoError(t, os.WriteFile(bad, []byte(left), 0o600))
				cfg.Stdin = bytes.NewReader([]byte("{no JSON\n"))
				s, err := Run(t.Context(), cfg)
				require.NoError(t, err)
				require.Equal(t, 1, s.Bad)
				text := string(mustRead(t, bad))
				require.Regexp(t, `^\{"line":1,"error":"[^\n]*","input":"\{no JSON"\}\n$`, text)
			})
		})
	}
}

// An empty file may belong to another program, so a run without a bad line does not remove it.
func TestBadLinesKeepEmptyFile(t *testing.T) {
	t.Parallel()
	cfg := batchOf(t, question("a"))
	require.NoError(t, os.WriteFile(cfg.Out+".bad.jsonl", nil, 0o600))
	_, err := Run(t.Context(), cfg)
	require.NoError(t, err)
	require.FileExists(t, cfg.Out+".bad.jsonl")
}

// If another program replaces the file during the run, the batch neither truncates nor removes the new file.
func TestBadLinesKeepFileReplacedDuringRun(t *testing.T) {
	for _, add := range []bool{true, false} {
		for _, before := range []string{"", badOne} {
			cfg := &Config{Out: filepath.Join(t.TempDir(), "out.jsonl")}
			bad := cfg.Out + ".bad.jsonl"
			if before != "" {
				require.NoError(t, os.WriteFile(bad, []byte(before), 0o600))
			}
			b, err := openBadLines(cfg)
			require.NoError(t, err)
			require.NoError(t, os.RemoveAll(bad))
			require.NoError(t, os.WriteFile(bad, []byte("Dear John,\n"), 0o600))
			if add {
				err = b.add(input.Line{Number: 3}, errTwice)
				require.True(t, err != nil || before != "", "the file that is there is another one")
			}
			require.NoError(t, b.close(true))
			require.Equal(t, "Dear John,\n", string(mustRead(t, bad)))
		}
	}
}

// Two batches cannot share a file for bad lines.
func TestBadLinesLockFile(t *testing.T) {
	badPlace(t, func(t *testing.T, cfg *Config, bad string) {
		require.NoError(t, os.WriteFile(bad, []byte(badOne), 0o600))
		other, err := openBadLines(&Config{Out: disk.Stream, Bad: bad})
		require.NoError(t, err)
		refused(t, cfg, "{no JSON\n", bad, "another batch writes it")
		require.Equal(t, badOne, string(mustRead(t, bad)))
		require.NoError(t, other.close(false))
	})
}

func TestBadLinesWriteToDevice(t *testing.T) {
	b, err := openBadLines(&Config{Out: disk.Stream, Bad: os.DevNull})
	require.NoError(t, err)
	require.NoError(t, b.add(input.Line{Number: 3}, errTwice))
	require.NoError(t, b.close(true))
	_, err = os.Stat(os.DevNull)
	require.NoError(t, err)

	cfg := &Config{Out: filepath.Join(t.TempDir(), "out"), Stdout: io.Discard}
	require.NoError(t, os.Mkdir(cfg.Out+".bad.jsonl", 0o700))
	_, err = openBadLines(cfg)
	require.ErrorAs(t, err, new(*disk.UnusableError))
	require.ErrorContains(t, err, "is not a regular file")
}

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}

// Checking whether a directory is writable must not change existing files.
func TestProbeKeepsExistingFiles(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out.jsonl.queue")
	target := filepath.Join(t.TempDir(), "target")
	write(t, target, "Dear John,\n")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.Symlink(target, folder+".probe"))
	require.NoError(t, disk.Probe(folder))
	require.Equal(t, "Dear John,\n", string(mustRead(t, target)))
	entries, err := os.ReadDir(filepath.Dir(folder))
	require.NoError(t, err)
	require.Len(t, entries, 2, "the directory and the link are left, and nothing else")
	s := &queue{dir: folder}
	require.NoError(t, s.close(true))
	_, err = os.Lstat(folder + ".probe")
	require.NoError(t, err)
}
