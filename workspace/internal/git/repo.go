package git

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Repo is a git directory of clichain and the directory of files that it describes. The .git of the files is never
// read. At most one command may run at a time that changes the index.
type Repo struct {
	Dir   string // the git directory; it has its own index
	Files string // the work tree
	// Leave are slash-separated paths in Files that snapshots leave out, whatever a .gitignore says.
	Leave []string
}

// Options are what a new git directory contains.
type Options struct {
	// Objects are the directories of objects of other repositories that the new one reads too.
	Objects []string
	// Format is the format of the object names, as in Original.Format. Empty: "sha1".
	Format string
	// Excludes are patterns of files that are not part of snapshots, as in info/exclude. See Original.Excludes.
	Excludes []byte
}

// Attributes are the contents of info/attributes of every Repo. They have precedence over all .gitattributes of the
// files.
const Attributes = "* -text -eol -crlf -ident -filter -working-tree-encoding !diff !merge !whitespace !export-subst\n"

// Init makes dir a git directory for the files. Both paths must be absolute. dir may exist if it is empty or a git
// directory of the same format; its index and objects then stay.
func Init(ctx context.Context, dir, files string, o Options) (Repo, error) {
	r := Repo{Dir: dir, Files: files}
	if !filepath.IsAbs(dir) || !filepath.IsAbs(files) {
		return r, fmt.Errorf("workspace: %q and %q must be absolute paths", dir, files)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return r, fmt.Errorf("workspace: create the git directory: %w", err)
	}
	format := o.Format
	if format == "" {
		format = "sha1"
	}
	init := command{dir: dir, args: []string{
		"init", "--quiet", "--bare", "--template=", "--initial-branch=main", "--object-format=" + format, dir,
	}}
	if _, err := init.output(ctx); err != nil {
		return r, err
	}
	var alternates bytes.Buffer
	for _, objects := range o.Objects {
		alternates.WriteString(quote(objects) + "\n")
	}
	for name, data := range map[string][]byte{
		"info/attributes": []byte(Attributes), "info/exclude": o.Excludes, "objects/info/alternates": alternates.Bytes(),
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return r, fmt.Errorf("workspace: %w", err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return r, fmt.Errorf("workspace: %w", err)
		}
	}
	return r, nil
}

// quote returns a path as a line of info/alternates: in double quotes, with octal escapes.
func quote(path string) string {
	var line strings.Builder
	line.WriteByte('"')
	for i := range len(path) {
		if c := path[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			fmt.Fprintf(&line, "\\%03o", c)
		} else {
			line.WriteByte(c)
		}
	}
	return line.String() + `"`
}

// Run runs a subcommand of git in Files and returns its standard output, at most MaxOutput bytes. Arguments before the
// subcommand, such as "-c", are permitted. stdin may be nil. The error wraps *Error if git failed.
func (r Repo) Run(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	return r.command(stdin, args).output(ctx)
}

// Strict is like Run, but fails too if git left out a directory that it could not read.
func (r Repo) Strict(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	c := r.command(stdin, args)
	c.strict = true
	return c.output(ctx)
}

// Stream is like Run, but writes the standard output to stdout.
func (r Repo) Stream(ctx context.Context, stdin io.Reader, stdout io.Writer, args ...string) error {
	c := r.command(stdin, args)
	c.stdout = stdout
	return c.run(ctx)
}

// Index returns the path of the index.
func (r Repo) Index() string { return filepath.Join(r.Dir, "index") }

func (r Repo) command(stdin io.Reader, args []string) command {
	return r.withIndex(r.Index(), stdin, args)
}

func (r Repo) withIndex(index string, stdin io.Reader, args []string) command {
	settings := []string{
		"core.bare=false", "core.autocrlf=false", "core.safecrlf=false", "core.attributesFile=" + null,
		"core.excludesFile=" + null, "core.ignoreCase=false", "core.precomposeUnicode=false", "core.quotePath=true",
		"core.sparseCheckout=false", "core.looseCompression=1", "core.splitIndex=false", "advice.addEmbeddedRepo=false",
	}
	if runtime.GOOS != "windows" {
		settings = append(settings, "core.fileMode=true", "core.symlinks=true", "core.protectNTFS=false")
	}
	var flags []string
	for _, setting := range settings {
		flags = append(flags, "-c", setting)
	}
	return command{
		dir: r.Files, stdin: stdin, args: append(flags, args...),
		env: []string{"GIT_DIR=" + r.Dir, "GIT_WORK_TREE=" + r.Files, "GIT_INDEX_FILE=" + index},
	}
}
