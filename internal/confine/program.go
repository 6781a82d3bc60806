package confine

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/localfile"
)

// scenario is the suffix of the file beside a fake CLI of package clitest that tells the fake what to do.
const scenario = ".clitest.json"

// installation returns the files that the program, its interpreters and the shell consist of. Links need no rule
// themselves.
func (p *plan) installation() []string {
	paths := append(p.packageOf("/bin/sh"), p.programs(p.in.Program)...)
	if file := p.in.Program + scenario; isFile(file) {
		paths = append(paths, file)
	}
	return paths
}

// programs returns the packages of a program and of its interpreters.
func (p *plan) programs(program string) (paths []string) {
	const maxInterpreters = 4
	const shell = "/bin/sh" // its package is granted in any case
	for range maxInterpreters {
		if program == "" || program == shell {
			break
		}
		paths = append(paths, p.packageOf(program)...)
		program = interpreter(p, program)
	}
	return paths
}

// servers returns the programs of the MCP servers, with their installations and interpreters, and the files that their
// arguments name. The first of these files may be a script, so it includes its package. Without a package it includes
// its directory, because a script may use the files beside it.
func (p *plan) servers() (paths []string) {
	for _, line := range p.in.Servers {
		if len(line) == 0 {
			continue
		}
		paths = append(paths, p.programs(p.lookPath(line[0]))...)
		files := slices.DeleteFunc(slices.Clone(line[1:]), func(arg string) bool { return !isFile(arg) })
		if paths = append(paths, files...); len(files) == 0 {
			continue
		}
		script := p.packageOf(files[0])
		if dir := filepath.Dir(script[0]); len(script) == 1 && !p.wide(dir) && !crowded(dir) {
			script = append(script, dir)
		}
		paths = append(paths, script...)
	}
	return paths
}

// isFile reports whether an argument is the absolute path of a regular file.
func isFile(arg string) bool {
	info, err := os.Stat(arg)
	return err == nil && filepath.IsAbs(arg) && info.Mode().IsRegular()
}

// crowded reports whether several users or programs keep files in a directory.
func crowded(dir string) bool {
	parent := filepath.Dir(dir)
	return slices.Contains(elsewhere, dir) || localfile.Within(dir, "/run") || localfile.Within(dir, "/dev") ||
		parent == "/home" || parent == "/mnt" || parent == "/media"
}

// managers are directories in which a package manager keeps programs together with the files that they need.
var managers = []string{
	"~/.nvm", "~/.volta", "~/.fnm", "~/.local/share/fnm", "~/.asdf", "~/.local/share/mise", "~/.nodenv", "~/.pyenv",
	"~/.local/share/pnpm", "~/.local/share/uv", "~/.local/share/pipx", "~/.bun", "~/.deno", "~/.nix-profile",
	"${NVM_DIR}", "${VOLTA_HOME}", "${FNM_DIR}", "${ASDF_DATA_DIR}", "${MISE_DATA_DIR}", "${PYENV_ROOT}", "${PNPM_HOME}",
	"/home/linuxbrew/.linuxbrew", "/nix/store", "/gnu/store",
}

func (p *plan) managerDirs() []string {
	if p.managers == nil {
		p.links.list(p.homes, ".local/share")
		for _, manager := range managers {
			p.managers = append(p.managers, p.links.expand(manager, p.place)...)
		}
		p.managers = slices.DeleteFunc(p.managers, p.wide)
	}
	return p.managers
}

// packageOf returns the directories and files of the package that a program belongs to.
func (p *plan) packageOf(program string) []string {
	real := p.links.real(program)
	paths := []string{real}
	for _, dir := range p.managerDirs() {
		if localfile.Within(real, dir) || localfile.Within(filepath.Clean(program), dir) {
			paths = append(paths, dir)
		}
	}
	if dir := modules(real); dir != "" {
		return append(paths, dir)
	}
	dir := filepath.Dir(real)
	if above := described(p, dir); above != "" {
		return append(paths, above)
	}
	prefix := filepath.Dir(dir)
	atHome := slices.Contains(p.homes, prefix) // a directory of several programs, such as ~/.local
	switch {
	case filepath.Base(dir) == "bin" && !p.wide(prefix):
		for _, name := range []string{"lib", "lib64", "libexec"} {
			paths = append(paths, filepath.Join(prefix, name))
		}
	case filepath.Base(prefix) == "versions", localfile.Within(dir, "/opt/"),
		p.hidden(dir) && !onPath(p, dir) && !atHome:
		paths = append(paths, dir)
	}
	return paths
}

// modules returns the outermost directory of Node packages that contains a program, because a package may use those
// beside it, or "".
func modules(program string) string {
	elements := strings.Split(program, root)
	for i, element := range elements[:len(elements)-1] {
		if element == "node_modules" || element == ".pnpm" {
			return strings.Join(elements[:i+1], root)
		}
	}
	return ""
}

// described returns the nearest directory, from dir upward, with a file that describes a package, or "".
func described(p *plan, dir string) string {
	const maxAbove = 8
	for range maxAbove {
		if p.wide(dir) {
			return ""
		}
		for _, file := range []string{"package.json", "pyvenv.cfg"} {
			if p.links.look(filepath.Join(dir, file)).exists {
				return dir
			}
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// wide reports whether a directory is a home directory or contains one, so that it is no package.
func (p *plan) wide(dir string) bool { return p.aboveHome(dir) || slices.Contains(p.homes, dir) }

func onPath(p *plan, dir string) bool {
	return slices.ContainsFunc(filepath.SplitList(p.place.Vars["PATH"]), func(entry string) bool {
		return p.links.real(entry) == dir
	})
}

// interpreter returns the program that runs a script, or "". It finds the program of "#!/usr/bin/env" on PATH.
func interpreter(p *plan, script string) string {
	line := firstLine(script)
	rest, ok := strings.CutPrefix(line, "#!")
	fields := strings.Fields(rest)
	if !ok || len(fields) == 0 {
		return ""
	}
	if filepath.Base(fields[0]) != "env" {
		return fields[0]
	}
	for _, field := range fields[1:] {
		if !strings.HasPrefix(field, "-") && !strings.Contains(field, "=") {
			return p.lookPath(field)
		}
	}
	return ""
}

// lookPath returns the program that the CLI starts for a command, or "".
func (p *plan) lookPath(name string) string {
	switch {
	case filepath.IsAbs(name):
		return name
	case strings.ContainsRune(name, filepath.Separator):
		return filepath.Join(p.in.Dir, name)
	}
	for _, dir := range filepath.SplitList(p.place.Vars["PATH"]) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err == nil && filepath.IsAbs(dir) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// firstLine returns the first line of a file, as much of it as the kernel reads.
func firstLine(path string) string {
	head, err := localfile.ReadHead(path, 256)
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return string(line)
}
