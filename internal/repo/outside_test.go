package repo_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// outsidePrograms are programs of a module outside this repository, by the package that they use, and their output.
var outsidePrograms = map[string]struct{ program, prints string }{
	"batch": {`package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/batch"
)

func main() {
	upper := clichain.BackendFunc("upper", func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: strings.ToUpper(req.Messages[0].Content)}, nil
	})
	s, err := batch.Run(context.Background(), &batch.Config{
		In: "-", Stdin: strings.NewReader("{\"prompt\": \"hello\"}\n"), Out: "out.jsonl", Backends: []clichain.Backend{upper},
	})
	if err != nil {
		panic(err)
	}
	text, err := os.ReadFile("out.jsonl")
	fmt.Println(s.Answered, strings.Contains(string(text), "\"text\":\"HELLO\""), err)
}
`, "1 true <nil>\n"},
	"openai": {`package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/openai"
)

func main() {
	upper := clichain.BackendFunc("upper", func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: strings.ToUpper(req.Messages[0].Content)}, nil
	})
	body := "{\"model\": \"any\", \"messages\": [{\"role\": \"user\", \"content\": \"hello\"}]}"
	req := httptest.NewRequest("POST", "http://localhost/v1/chat/completions", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer secret")
	w := httptest.NewRecorder()
	openai.NewHandler(upper, &openai.Config{Token: "secret"}).ServeHTTP(w, req)
	fmt.Println(w.Code, strings.Contains(w.Body.String(), "HELLO"))
}
`, "200 true\n"},
}

func TestOutsideModuleImports(t *testing.T) {
	sources(t) // skips without a checkout
	for name, test := range outsidePrograms {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(outsideModule(t, name)), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(test.program), 0o600))
			cmd := exec.Command("go", "run", ".")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PWD="+dir, "GOWORK=off", "GOPROXY=off", "GOSUMDB=off", "GOFLAGS=-mod=mod")
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			require.NoError(t, err, "%s", &stderr)
			require.Equal(t, test.prints, string(out))
		})
	}
}

// outsideModule returns the go.mod of a module that uses a package of this checkout. It requires the versions of this
// checkout, which the module cache has.
func outsideModule(t *testing.T, name string) string {
	t.Helper()
	format := "{{with .Module}}{{if .Main}}{{.Path}} v0.1.0 => {{.Dir}}{{else}}{{.Path}} {{.Version}}{{end}}{{end}}"
	out, err := exec.Command("go", "list", "-deps", "-f", format, "./"+name).Output()
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	var b strings.Builder
	fmt.Fprint(&b, "module example.com/outside\n\ngo 1.26.0\n\n")
	for _, line := range slices.Compact(lines) {
		version, dir, own := strings.Cut(line, " => ")
		if own {
			fmt.Fprintf(&b, "replace %s => %q\n", version, dir)
		}
		fmt.Fprintf(&b, "require %s\n", version)
	}
	return b.String()
}
