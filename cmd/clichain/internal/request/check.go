package request

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
)

// Check finds what would make a request fail at every backend, before any of them is looked for. Its prompt may be
// missing yet.
func Check(ctx context.Context, req clichain.Request) error {
	for _, name := range req.Options.AddDirs {
		if err := CheckDir(name); err != nil {
			return console.Usagef("--add-dir: %v", err)
		}
	}
	if err := CheckDir(req.Dir); err != nil && req.Dir != "" {
		return console.Usagef("--dir: %v", err)
	}
	for _, name := range req.Options.Images {
		if err := checkImage(name); err != nil {
			return console.Usagef("--image: %v", err)
		}
	}
	if asksTwice(req) {
		return console.Usagef("--session: give one of --session, --continue and --session-id")
	}
	return CheckFields(ctx, req)
}

// CheckFields has a chain find the mistakes, which it does before it asks anybody: the one that it could ask answers
// nothing.
func CheckFields(ctx context.Context, req clichain.Request) error {
	nobody := clichain.BackendFunc("nobody", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, &clichain.BackendError{Reason: clichain.ReasonExit}
	})
	req.Messages = append(slices.Clip(req.Messages), clichain.Message{Role: clichain.RoleUser, Content: "-"})
	req.Model, req.Session = "", "" // which are for one backend to judge
	_, err := clichain.ChainOf([]clichain.Backend{nobody}, &clichain.ChainConfig{NoCooldown: true}).Complete(ctx, req)
	be, ok := errors.AsType[*clichain.BackendError](err)
	if !ok || !slices.Contains(console.UsageReasons, be.Reason) {
		return nil
	}
	flag := param.FlagOf(be.Option)
	if flag == param.Prompt { // that of the user is not there yet
		flag = "--system"
	}
	shown := console.WithFlags(be).(*clichain.BackendError)
	return console.Usagef("%s: %s%s", flag, shown.Detail(), shown.BracketedHint())
}

func asksTwice(req clichain.Request) bool {
	given := 0
	for _, ways := range []bool{req.Session != "", req.Options.Continue, req.Options.SessionID != ""} {
		if ways {
			given++
		}
	}
	return given > 1
}

// CheckDir returns an error unless name is a directory.
func CheckDir(name string) error {
	info, err := os.Stat(name)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no directory", name)
	}
	return err
}

// checkImage looks at the beginning of a file, because no CLI says what is wrong with one that is no image.
func checkImage(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", name)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, 512)) // as much as tells the kind
	if err != nil {
		return err
	}
	if kind := http.DetectContentType(head); !strings.HasPrefix(kind, "image/") {
		return fmt.Errorf("%s is no image but %s: the CLIs look at PNG, JPEG, GIF and WebP", name, kind)
	}
	return nil
}
