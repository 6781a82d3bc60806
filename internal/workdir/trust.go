package workdir

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/login"
)

// CheckTrust refuses a call in directories whose files would steer the CLI. Files of the home directory are the user's
// own.
func CheckTrust(inv *compose.Invocation) *call.Error {
	home := RealPath(login.PlaceOf(inv.Call.Env, inv.Dir).Home)
	for _, top := range append([]string{inv.Dir}, inv.Call.Fields["add_dirs"]...) {
		for _, name := range inv.Unwanted {
			if found := steering(top, name, home); found != "" {
				return untrusted(found)
			}
		}
	}
	return nil
}

// steering is the file of that name in a directory, or above it where the name
// begins with "./"; "" if there is none.
func steering(top, name, home string) string {
	file, above := strings.CutPrefix(name, "./")
	dirs := []string{top}
	if above { // CLIs differ in whether they go up by PWD or by the real path
		dirs = append(grammar.Upward(top, ""), grammar.Upward(RealPath(top), "")...)
	}
	for _, dir := range dirs {
		found := filepath.Join(dir, file)
		if _, err := os.Lstat(found); err == nil && RealPath(dir) != home {
			return found
		}
	}
	return ""
}

// RealPath is the path without symbolic links, or the same path if it cannot be resolved.
func RealPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func untrusted(file string) *call.Error {
	err := call.Errorf(call.ReasonUntrustedDir, "dir", "%s would steer this CLI, or start programs of its own", file)
	err.Advice = []call.Advice{{Action: call.ActionTrust, Field: "config.trust_dir", Value: filepath.Base(file)}}
	return err
}
