package tree

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// node is a file or, with link, a symbolic link with data as its target.
type node struct {
	data       string
	link, exec bool
}

// world has the files of a directory by their paths.
type world map[string]node

// put adds a file, and removes what is in its way.
func (w world) put(name string, n node) {
	w.remove(name)
	for parent := range parents(name) {
		delete(w, parent)
	}
	w[name] = n
}

// remove removes a file or a directory.
func (w world) remove(name string) {
	maps.DeleteFunc(w, func(other string, _ node) bool { return other == name || strings.HasPrefix(other, name+"/") })
}

// at describes a path.
func (w world) at(name string) string {
	if n, ok := w[name]; ok {
		return fmt.Sprintf("%+q", fmt.Sprint(n))
	}
	return "absent"
}

func (w world) names() []string { return slices.Sorted(maps.Keys(w)) }

// write makes dir contain the files.
func (w world) write(t require.TestingT, dir string) {
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for name, n := range w {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		if n.link {
			require.NoError(t, os.Symlink(n.data, file))
			continue
		}
		require.NoError(t, os.WriteFile(file, []byte(n.data), 0o644))
		if n.exec {
			require.NoError(t, os.Chmod(file, 0o755))
		}
	}
}

// read returns the files of a directory, without its empty directories.
func read(t require.TestingT, dir string) world {
	w := world{}
	visit(t, dir, func(name string, info fs.FileInfo, data string) {
		if !info.IsDir() {
			w[name] = node{data: data, link: info.Mode()&fs.ModeSymlink != 0, exec: info.Mode()&0o111 != 0 && info.Mode().IsRegular()}
		}
	})
	return w
}

// state returns everything in a directory, with the modes of files and directories.
func state(t require.TestingT, dir string) map[string]string {
	all := map[string]string{}
	visit(t, dir, func(name string, info fs.FileInfo, data string) { all[name] = info.Mode().String() + " " + data })
	return all
}

func visit(t require.TestingT, dir string, found func(name string, info fs.FileInfo, data string)) {
	require.NoError(t, filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var data []byte
		switch {
		case info.Mode().IsRegular():
			data, err = os.ReadFile(file)
		case info.Mode()&fs.ModeSymlink != 0:
			var link string
			link, err = os.Readlink(file)
			data = []byte(link)
		}
		name, _ := filepath.Rel(dir, file)
		found(filepath.ToSlash(name), info, string(data))
		return err
	}))
}

var (
	components = rapid.SampledFrom([]string{
		"a", "b", "c.txt", "A", "dir", "x y", " lead", "trail ", "tab\t", "new\nline", "cr\r", `quo"te`, `"`, `back\slash`, "ä",
		"\xff\xfe", "-dash", ":colon", "*", "[x]", "?", ".gitattributes", ".gitx", "git~1", "con", "..a", "#hash", "!bang", "\x7f\x01",
		" b", "a b", "b b", "/dev"[1:], "null", strings.Repeat("long", 40),
	})
	line = rapid.SampledFrom([]string{
		"", "one", "two", "three", "$Id$", "\ttab", "trailing  ", "diff --git a/a b/b", "-- a/a", "++ b/b", "@@ -1,2 +1,2 @@", "rename to x",
		`\ No newline at end of file`, "GIT binary patch", "ünïcödé", strings.Repeat("é", 60), "caf\xe9", "\xff", "\x00", "\ufeffbom",
		"-", "+", " ", "* text eol=crlf ident working-tree-encoding=UTF-16 filter=lfs diff=x binary",
	})
	names = rapid.Custom(func(t *rapid.T) string {
		return path.Join(rapid.SliceOfN(components, 1, 4).Draw(t, "components")...)
	})
	texts = rapid.Custom(func(t *rapid.T) string {
		newline := rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", "\r"}).Draw(t, "newline")
		text := strings.Join(rapid.SliceOfN(line, 0, 30).Draw(t, "lines"), newline)
		if rapid.Bool().Draw(t, "newline at the end") {
			text += newline
		}
		return text
	})
	binaries = rapid.Custom(func(t *rapid.T) string {
		data := rapid.SliceOfN(rapid.Byte(), 0, 80).Draw(t, "bytes")
		return string(bytes.Repeat(data, rapid.IntRange(1, 50).Draw(t, "times")))
	})
	nodes = rapid.Custom(func(t *rapid.T) node {
		switch rapid.IntRange(0, 9).Draw(t, "type") {
		case 0:
			link := rapid.SampledFrom([]string{"a", "../x", "/absolute", "dir/b", "\xff", "nowhere\n"}).Draw(t, "link")
			return node{data: link, link: true}
		case 1, 2:
			return node{data: binaries.Draw(t, "binary"), exec: rapid.Bool().Draw(t, "exec")}
		default:
			return node{data: texts.Draw(t, "text"), exec: rapid.Bool().Draw(t, "exec")}
		}
	})
	worlds = rapid.Custom(func(t *rapid.T) world {
		w := world{}
		for range rapid.IntRange(0, 8).Draw(t, "files") {
			w.put(names.Draw(t, "name"), nodes.Draw(t, "node"))
		}
		return w
	})
)

// edited returns a world after some random edits.
func edited(t *rapid.T, w world, most int) world {
	w = maps.Clone(w)
	for range rapid.IntRange(1, most).Draw(t, "edits") {
		have := w.names()
		if len(have) == 0 {
			w.put(names.Draw(t, "name"), nodes.Draw(t, "node"))
			continue
		}
		name := rapid.SampledFrom(have).Draw(t, "file")
		n := w[name]
		switch edit := rapid.IntRange(0, 8).Draw(t, "edit"); edit {
		case 0:
			w.put(names.Draw(t, "name"), nodes.Draw(t, "node"))
		case 1:
			w.remove(name)
		case 2:
			w.remove(name)
			w.put(names.Draw(t, "new name"), n)
		case 3: // a file that becomes a directory
			w.put(name+"/"+names.Draw(t, "name"), n)
		case 4: // a directory that becomes a file
			w.put(cmpDir(name), nodes.Draw(t, "node"))
		case 5:
			w.put(name, nodes.Draw(t, "node"))
		default:
			if !n.link {
				n.exec = n.exec != (edit == 6)
				n.data = editedText(t, n.data)
				w[name] = n
			}
		}
	}
	return w
}

func cmpDir(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return name
}

// editedText replaces some lines at a random place by others.
func editedText(t *rapid.T, text string) string {
	lines := splitLines(text)
	at := rapid.IntRange(0, len(lines)).Draw(t, "at")
	end := rapid.IntRange(at, min(at+3, len(lines))).Draw(t, "end")
	insert := rapid.SliceOfN(line, 0, 2).Draw(t, "insert")
	for i := range insert {
		insert[i] += "\n"
	}
	return strings.Join(slices.Replace(lines, at, end, insert...), "")
}

func (w world) String() string {
	var b strings.Builder
	for _, name := range w.names() {
		fmt.Fprintf(&b, "%q: %s\n", name, w.at(name))
	}
	return b.String()
}
