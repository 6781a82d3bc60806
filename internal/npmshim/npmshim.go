// Package npmshim reads the batch files that npm installs on Windows, one for each program. A batch file cannot be
// started safely, because its interpreter expands the arguments. The program that it starts can.
package npmshim

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// Command is what a shim starts.
type Command struct {
	Interpreter string   // the name of the interpreter of File, such as "node"; empty: File is a program
	Flags       []string // of the interpreter
	File        string   // relative to the directory of the shim, with slashes
}

// shim matches exactly what cmd-shim 8.0.0 of npm writes: a batch file that does anything else is not understood.
var shim = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(`^@ECHO off
GOTO start
:find_dp0
SET dp0=%~dp0
EXIT /b
:start
SETLOCAL
CALL :find_dp0
(?:
IF EXIST "%dp0%\\([\w.-]+)\.exe" \(
  SET "_prog=%dp0%\\[\w.-]+\.exe"
\) ELSE \(
  SET "_prog=([\w.-]+)"
  SET PATHEXT=%PATHEXT:;\.JS;=;%
\)

endLocal & goto #_undefined_# 2>NUL \|\| title %COMSPEC% & "%_prog%" ([\w.:=@/ -]*) ?)?"%dp0%\\([^"%]+)" +%\*
$`, "\n", "\r?\n"))
})

// Parse returns what the text of a shim starts. ok is false for any other batch file.
func Parse(text string) (c Command, ok bool) {
	m := shim().FindStringSubmatch(text)
	if m == nil || m[1] != m[2] {
		return Command{}, false
	}
	return Command{Interpreter: m[1], Flags: strings.Fields(m[3]), File: strings.ReplaceAll(m[4], `\`, "/")}, true
}

// ErrUnknown means that a batch file is no shim of npm.
var ErrUnknown = errors.New("the file is no shim of npm")

// Resolve returns the program that the shim at path starts, followed by the first arguments of that program. It
// looks for the interpreter beside the shim, and then calls find with its name.
func Resolve(path string, find func(name string) (string, error)) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, ok := Parse(string(text))
	if !ok {
		return nil, ErrUnknown
	}
	dir := filepath.Dir(path)
	file := filepath.Join(dir, filepath.FromSlash(c.File))
	if c.Interpreter == "" {
		return []string{file}, nil
	}
	program := filepath.Join(dir, c.Interpreter+".exe")
	if _, err := os.Stat(program); err != nil {
		if program, err = find(c.Interpreter); err != nil {
			return nil, err
		}
	}
	return append(append([]string{program}, c.Flags...), file), nil
}
