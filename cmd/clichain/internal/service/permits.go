package service

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/clichain/clichain/permit"
	"github.com/spf13/pflag"
)

const permitHelp = "`permission` beyond access, such as dir=/srv/repo; see \"clichain help permissions\" (repeatable)"

// permits maps the names of permissions to the functions that grant them.
var permits = map[string]func(p *permit.Permissions, value string) error{
	"agents":  func(p *permit.Permissions, value string) error { return allow(&p.Agents, value) },
	"bytes":   func(p *permit.Permissions, value string) error { return allowBytes(p, value) },
	"dir":     func(p *permit.Permissions, value string) error { return allowAlso(&p.Dirs, value) },
	"env":     func(p *permit.Permissions, value string) error { return allowAlso(&p.Env, value) },
	"extra":   allowArgument,
	"mcp":     func(p *permit.Permissions, value string) error { return allow(&p.MCP, value) },
	"mode":    func(p *permit.Permissions, value string) error { return allowAlso(&p.Modes, value) },
	"model":   func(p *permit.Permissions, value string) error { return allowAlso(&p.Models, value) },
	"session": func(p *permit.Permissions, value string) error { return allow(&p.Sessions, value) },
	"tool":    func(p *permit.Permissions, value string) error { return allowAlso(&p.Tools, value) },
}

// PermitWords returns the names of permissions for --permit, with "=" after a name that needs a value.
func PermitWords() (words []string) {
	for _, word := range slices.Sorted(maps.Keys(permits)) {
		if permits[word](&permit.Permissions{}, "") != nil {
			word += "="
		}
		words = append(words, word)
	}
	return words
}

// AddPermitFlag declares --permit for the permissions with these names, or for all.
func AddPermitFlag(flags *pflag.FlagSet, p *permit.Permissions, names ...string) {
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(permits))
	}
	flags.Func("permit", permitHelp, func(text string) error {
		what, value, _ := strings.Cut(text, "=")
		set := permits[what]
		if !slices.Contains(names, what) {
			return fmt.Errorf("%q is not one of %s", what, strings.Join(names, ", "))
		}
		return set(p, value)
	})
}

func allow(may *bool, value string) error {
	if value != "" {
		return errors.New("this permission takes no value")
	}
	*may = true
	return nil
}

func allowAlso(list *[]string, value string) error {
	if value == "" {
		return errors.New("write the allowed value after =")
	}
	*list = append(*list, value)
	return nil
}

func allowArgument(p *permit.Permissions, value string) error {
	backend, argument, ok := strings.Cut(value, "=")
	if !ok || backend == "" || argument == "" {
		return errors.New("write extra=backend=argument, such as extra=codex=--full-auto")
	}
	if p.Extra == nil {
		p.Extra = map[string][]string{}
	}
	p.Extra[backend] = append(p.Extra[backend], argument)
	return nil
}

func allowBytes(p *permit.Permissions, value string) error {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n <= 0 {
		return errors.New("write a number of bytes, such as bytes=1048576")
	}
	p.MaxBytes = n
	return nil
}
