package console

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

// TestInFlags: no failure tells a user of the command what to write in Go. What only a program can set is no flag's.
func TestInFlags(t *testing.T) {
	inGo := regexp.MustCompile(`\b(Config|Options|Request|ChainConfig)\.[A-Z]|\bAccess(None|Read|Write|Full)\b|\bset Dir\b|SandboxOff`)
	ofPrograms := []string{"Config.RefuseNested", "Config.Name", "Config.Container", "Request.Schema", "or set Session"}
	literal := regexp.MustCompile("`[^`\n]*`|\"(?:[^\"\\\\\n]|\\\\.)*\"")
	checked := 0
	for _, pattern := range []string{"*.go", "internal/*/*.go", "specs/*.go", "call/*.go"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", filepath.FromSlash(pattern)))
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, said := range literal.FindAllString(string(text), -1) {
				ours := slices.ContainsFunc(ofPrograms, func(name string) bool { return strings.Contains(said, name) })
				if !strings.Contains(said, " ") || ours || !inGo.MatchString(said) {
					continue
				}
				checked++
				require.NotRegexp(t, inGo, FlagWords.Replace(said), "%s", file)
			}
		}
	}
	require.Greater(t, checked, 8)
}

func TestTold(t *testing.T) {
	be := &clichain.BackendError{Backend: "x", Reason: clichain.ReasonBadOption, Option: "options.images[0]", Message: "leave Dir empty"}
	chain := &clichain.ChainError{Cause: be, Attempts: []clichain.Attempt{{Backend: "x", Reason: be.Reason, Err: be}}}
	require.Equal(t, "clichain: x: bad_option (--image): leave --dir out\n  x  bad_option (--image)  leave --dir out", WithFlags(chain).Error())
	require.Equal(t, "options.images[0]", be.Option, "it is not changed")
	require.NoError(t, WithFlags(nil))
}
