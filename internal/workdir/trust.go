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

// CheckTrust returns an error if a directory of the call contains files that would influence the CLI. It trusts
// files directly in the home directory.
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

// steering returns the path of the named file in directory top, or "" if there is none. If the name begins with
// "./", it also searches the directories above.
func steering(top, name, home string) string {
	file, above := strings.CutPrefix(name, "./")
	dirs := []string{top}
	if above { // CLIs follow either PWD or the real path upward
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
	err := call.Errorf(call.ReasonUntrustedDir, "dir", "%s would change what this CLI does, or start programs", file)
	err.Advice = []call.Advice{{Action: call.ActionTrust, Field: "config.trust_dir", Value: filepath.Base(file)}}
	return err
}
