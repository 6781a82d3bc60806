package batch

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

const (
	first  = `{"id":"a","response":{"text":"<one>","backend":"claude","usage":{"cost_usd":0.5},"duration_ms":1}}` + "\n"
	second = `{"id":"b","error":{"reason":"exit","message":"no"}}` + "\n"
	third  = `{"id":"c","error":{"reason":"killed","message":"no","side_effects":true}}` + "\n"
)

// written is an output with a text in it, scanned.
func written(t *testing.T, text string) (o *output, seen []string, err error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "out.jsonl")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o640))
	o, err = openOutput(name, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = o.close() })
	err = o.scan(func(r *Record) { seen = append(seen, r.ID) })
	return o, seen, err
}

func content(t *testing.T, o *output) string {
	t.Helper()
	data, err := os.ReadFile(o.name)
	require.NoError(t, err)
	return string(data)
}

func TestScan(t *testing.T) {
	for _, test := range []struct {
		name, text string
		ids        []string
		left       string
	}{
		{"empty", "", nil, ""},
		{"whole", first + second, []string{"a", "b"}, first + second},
		{"half a line", first + second[:len(second)/2], []string{"a"}, first},
		{"a few bytes", first + `{"i`, []string{"a"}, first},
		{"zeros after a crash of the machine", first + second[:20] + "\x00\x00\x00", []string{"a"}, first},
		{"nothing but zeros", "\x00\x00", nil, ""},
		{"only the end of the line is missing", first + second[:len(second)-1], []string{"a", "b"}, first + second},
	} {
		t.Run(test.name, func(t *testing.T) {
			o, seen, err := written(t, test.text)
			require.NoError(t, err)
			require.Equal(t, test.ids, seen)
			require.Equal(t, test.left, content(t, o))
			require.EqualValues(t, len(test.left), o.size)
			require.NoError(t, o.append(&Record{ID: "n", Error: &jetstream.Failure{Reason: "exit", Message: "<&>"}}))
			require.Equal(t, test.left+`{"id":"n","error":{"reason":"exit","message":"<&>"}}`+"\n", content(t, o))
		})
	}
}

func TestScanRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"a letter":             "Dear John,\n",
		"a letter in one line": "Dear John",
		"other JSON":           `{"prompt":"hi"}` + "\n",
		"a response and error": `{"id":"a","response":{"text":"x"},"error":{"reason":"exit","message":"x"}}` + "\n",
		"garbage in between":   first + "\x00\x00\n" + second,
	} {
		t.Run(name, func(t *testing.T) {
			o, _, err := written(t, text)
			require.ErrorAs(t, err, new(*Mistake))
			require.ErrorContains(t, err, "was not written by a batch")
			require.Equal(t, text, content(t, o), "it is somebody's file")
		})
	}
}

func TestOutputIsLocked(t *testing.T) {
	o, _, err := written(t, "")
	require.NoError(t, err)
	_, err = openOutput(o.name, nil)
	require.ErrorAs(t, err, new(*Mistake))
	require.NoError(t, o.close())
	again, err := openOutput(o.name, nil)
	require.NoError(t, err)
	require.NoError(t, again.close())
}

func TestRewrite(t *testing.T) {
	o, _, err := written(t, first+second+third)
	require.NoError(t, err)
	cfg := &Config{RetryFailed: true}
	require.NoError(t, o.rewrite(func(r *Record) bool { return !cfg.again(r) }))
	require.Equal(t, first+third, content(t, o))
	cfg.RetrySideEffects = true
	require.NoError(t, o.rewrite(func(r *Record) bool { return !cfg.again(r) }))
	require.Equal(t, first, content(t, o))
	require.NoError(t, o.append(&Record{ID: "b", Response: &clichain.Response{Text: "yes"}}))
	require.Contains(t, content(t, o), first+`{"id":"b","response":`)
	info, err := os.Stat(o.name)
	require.NoError(t, err)
	require.EqualValues(t, 0o640, info.Mode().Perm())
	entries, err := os.ReadDir(filepath.Dir(o.name))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	_, err = openOutput(o.name, nil)
	require.ErrorAs(t, err, new(*Mistake), "the new file is locked, too")
}

// full writes a part of each line, and then there is no room.
type full struct{ o *output }

func (f *full) Write(p []byte) (int, error) {
	n, _ := f.o.file.Write(p[:len(p)/2])
	return n, &os.PathError{Op: "write", Path: f.o.name, Err: syscall.ENOSPC}
}

// A line that did not fit leaves nothing, so that the file is good for the next run.
func TestAppendToAFullDisk(t *testing.T) {
	o, _, err := written(t, first)
	require.NoError(t, err)
	o.w = &full{o}
	err = o.append(&Record{ID: "b", Response: &clichain.Response{Text: "yes"}})
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.EqualError(t, err, o.name+": the disk, or the quota, is full: make room, and the same command goes on;"+
		" nothing is lost (no space left on device)")
	require.Equal(t, first, content(t, o))
}

func TestExplain(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.EDQUOT: "the disk, or the quota, is full", syscall.EFBIG: "may not grow any more", syscall.EROFS: "is read-only",
		syscall.EACCES: "may not be written to", syscall.EPERM: "may not be written to", syscall.ENOENT: "there is no such folder",
		syscall.EIO: "input/output error",
	} {
		require.ErrorContains(t, explain("x", &os.PathError{Op: "open", Path: "x", Err: errno}), want)
	}
}

// What is no regular file is a stream: it cannot be read, cut or resumed.
func TestDeviceIsAStream(t *testing.T) {
	o, err := openOutput(os.DevNull, nil)
	require.NoError(t, err)
	require.False(t, o.isFile())
	require.NoError(t, o.scan(func(*Record) { t.Fatal("nothing to see") }))
	require.NoError(t, o.append(&Record{ID: "a", Response: &clichain.Response{Text: "x"}}))
	require.NoError(t, o.sync())
	require.NoError(t, o.close())
}
