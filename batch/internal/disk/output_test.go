package disk

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	first  = `{"id":"a","response":{"text":"<one>","backend":"claude","usage":{"cost_usd":0.5},"duration_ms":1}}` + "\n"
	second = `{"id":"b","error":{"reason":"exit","message":"no"}}` + "\n"
	third  = `{"id":"c","error":{"reason":"killed","message":"no","side_effects":true}}` + "\n"
)

// record is a line of an output.
type record struct {
	ID       string    `json:"id"`
	Response *struct{} `json:"response"`
	Error    *struct {
		SideEffects bool `json:"side_effects"`
	} `json:"error"`
}

func parse(line []byte) (r record, err error) {
	if err = json.Unmarshal(line, &r); err == nil && (r.ID == "" || (r.Response == nil) == (r.Error == nil)) {
		err = errors.New("not a record")
	}
	return r, err
}

// written returns an output that contains text, and the ids that Scan has found in it.
func written(t *testing.T, text string) (o *Output[record], seen []string, err error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "out.jsonl")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o640))
	o, err = OpenOutput(name, nil, parse)
	require.NoError(t, err)
	t.Cleanup(func() { _ = o.Close() })
	err = o.Scan(func(r record) { seen = append(seen, r.ID) })
	return o, seen, err
}

func content(t *testing.T, o *Output[record]) string {
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
		{"complete lines", first + second, []string{"a", "b"}, first + second},
		{"incomplete line", first + second[:len(second)/2], []string{"a"}, first},
		{"first bytes of a line", first + `{"i`, []string{"a"}, first},
		{"zero bytes after a machine crash", first + second[:20] + "\x00\x00\x00", []string{"a"}, first},
		{"only zero bytes", "\x00\x00", nil, ""},
		{"missing newline", first + second[:len(second)-1], []string{"a", "b"}, first + second},
	} {
		t.Run(test.name, func(t *testing.T) {
			o, seen, err := written(t, test.text)
			require.NoError(t, err)
			require.Equal(t, test.ids, seen)
			require.Equal(t, test.left, content(t, o))
			require.EqualValues(t, len(test.left), o.size)
			require.NoError(t, o.Append([]byte(third)))
			require.Equal(t, test.left+third, content(t, o))
		})
	}
}

func TestScanRejectsForeignFile(t *testing.T) {
	for name, text := range map[string]string{
		"a letter":             "Dear John,\n",
		"a letter in one line": "Dear John",
		"other JSON":           `{"prompt":"hi"}` + "\n",
		"a response and error": `{"id":"a","response":{"text":"x"},"error":{"reason":"exit","message":"x"}}` + "\n",
		"garbage in between":   first + "\x00\x00\n" + second,
	} {
		t.Run(name, func(t *testing.T) {
			o, _, err := written(t, text)
			require.ErrorAs(t, err, new(*UnusableError))
			require.ErrorContains(t, err, "was not written by a batch")
			require.Equal(t, text, content(t, o), "it is somebody's file")
		})
	}
}

func TestOutputIsLocked(t *testing.T) {
	o, _, err := written(t, "")
	require.NoError(t, err)
	_, err = OpenOutput(o.name, nil, parse)
	require.ErrorAs(t, err, new(*UnusableError))
	require.NoError(t, o.Close())
	again, err := OpenOutput(o.name, nil, parse)
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

func TestRewrite(t *testing.T) {
	o, _, err := written(t, first+second+third)
	require.NoError(t, err)
	before, err := os.Stat(o.name)
	require.NoError(t, err)
	require.NoError(t, o.Rewrite(func(r record) bool { return r.Error == nil || r.Error.SideEffects }))
	require.Equal(t, first+third, content(t, o))
	require.NoError(t, o.Rewrite(func(r record) bool { return r.Error == nil }))
	require.Equal(t, first, content(t, o))
	require.NoError(t, o.Append([]byte(second)))
	require.Equal(t, first+second, content(t, o))
	info, err := os.Stat(o.name)
	require.NoError(t, err)
	require.Equal(t, before.Mode(), info.Mode())
	entries, err := os.ReadDir(filepath.Dir(o.name))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	_, err = OpenOutput(o.name, nil, parse)
	require.ErrorAs(t, err, new(*UnusableError), "the new file is locked, too")
}

// full writes a part of each line and then fails because the disk is full.
type full struct{ o *Output[record] }

func (f *full) Write(p []byte) (int, error) {
	n, _ := f.o.file.Write(p[:len(p)/2])
	return n, &os.PathError{Op: "write", Path: f.o.name, Err: syscall.ENOSPC}
}

// After a failed write, the file contains no incomplete line, so the next run can use it.
func TestAppendToFullDisk(t *testing.T) {
	o, _, err := written(t, first)
	require.NoError(t, err)
	o.w = &full{o}
	err = o.Append([]byte(second))
	o.w = o.file // Close closes it
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.EqualError(t, err, o.name+": the disk or the quota is full: free some space and run the same command "+
		"again; no answers are lost (no space left on device)")
	require.Equal(t, first, content(t, o))
}

func TestExplain(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.EDQUOT: "the disk or the quota is full", syscall.EFBIG: "has reached the size limit", syscall.EROFS: "is read-only",
		syscall.EACCES: "not writable", syscall.EPERM: "not writable", syscall.ENOENT: "the directory does not exist",
		syscall.EIO: "input/output error",
	} {
		require.ErrorContains(t, Explain("x", &os.PathError{Op: "open", Path: "x", Err: errno}), want)
	}
}

// A file that is not regular is a stream. It cannot be read, truncated or resumed.
func TestOutputToDeviceIsStream(t *testing.T) {
	o, err := OpenOutput(os.DevNull, nil, parse)
	require.NoError(t, err)
	require.False(t, o.IsFile())
	require.NoError(t, o.Scan(func(record) { t.Fatal("nothing to see") }))
	require.NoError(t, o.Append([]byte(first)))
	require.NoError(t, o.Sync())
	require.NoError(t, o.Close())
}

// A file that a killed run left next to the output is replaced only if a batch has written it.
func TestRewriteRejectsForeignFile(t *testing.T) {
	for name, test := range map[string]struct {
		put func(t *testing.T, name string)
		ok  bool
	}{
		"prose":          {func(t *testing.T, name string) { write(t, name, "Dear John,\n") }, false},
		"records":        {func(t *testing.T, name string) { write(t, name, second+third) }, true},
		"part of record": {func(t *testing.T, name string) { write(t, name, second+third[:20]) }, true},
		"a link": {func(t *testing.T, name string) {
			write(t, name+".target", second)
			_ = os.Symlink(name+".target", name)
			if _, err := os.Lstat(name); err != nil { // wine reports a success
				t.Skip("links cannot be made here: ", err)
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o, _, err := written(t, first+second+third)
			require.NoError(t, err)
			beside := o.name + ".retry"
			test.put(t, beside)
			before := mustRead(t, beside)
			err = o.Rewrite(func(r record) bool { return r.Error == nil })
			if test.ok {
				require.NoError(t, err)
				require.Equal(t, first, content(t, o))
				require.NoFileExists(t, beside)
				return
			}
			require.ErrorAs(t, err, new(*UnusableError))
			require.Equal(t, before, mustRead(t, beside))
			require.Equal(t, first+second+third, content(t, o))
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}

func mustRead(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return data
}
