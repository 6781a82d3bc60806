package configedit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/spf13/cobra"
)

// NewEdit makes the command config edit.
func NewEdit(env *console.Env) *cobra.Command {
	r := selection.NewResolver(env)
	cmd := &cobra.Command{
		Use:   "edit",
		Short: "Edit the settings file in your editor",
		Long: `Edit the settings file in the program that VISUAL or EDITOR names. The result is
validated before it replaces the file. If the result is invalid, the file stays
as it was and the edited text is kept in a file next to it.`,
		Example: `  clichain config edit
  EDITOR=nano clichain config edit
  VISUAL="code --wait" clichain config edit --config work.yaml`,
		Args: console.NoArgs,
		RunE: func(*cobra.Command, []string) error { return edit(r) },
	}
	r.AddFlags(cmd.Flags())
	cmd.Flags().Lookup("profile").Hidden = true // the command edits all profiles
	return cmd
}

// newFile is the text that the editor shows if there is no settings file.
const newFile = "# Settings of clichain; see \"clichain help settings\".\n"

func edit(r *selection.Resolver) error {
	f, err := open("config edit", r)
	if err != nil {
		return err
	}
	before := f.data
	if !f.exists {
		before = []byte(newFile)
	}
	draft, err := f.draft(before)
	if err != nil {
		return err
	}
	if err := runEditor(r, draft); err != nil {
		return console.Fail(console.ExitFailed, errors.Join(err, os.Remove(draft)))
	}
	after, err := os.ReadFile(draft)
	if err != nil {
		return console.Fail(console.ExitFailed, err)
	}
	if bytes.Equal(before, after) {
		if err := os.Remove(draft); err != nil {
			return console.Fail(console.ExitFailed, err)
		}
		_, err := fmt.Fprintln(r.Out, "no changes to", f.path)
		return console.OutputError(err)
	}
	if err := f.check(draft); err != nil {
		return console.Usagef("%s\n%s is unchanged; the edited text is in %s", console.Message(err), f.path, draft)
	}
	if err := f.replace(draft); err != nil {
		return err
	}
	_, err = fmt.Fprintln(r.Out, "saved", f.path)
	return console.OutputError(err)
}

// runEditor runs the editor on a file. The variables may have arguments, separated by blanks.
func runEditor(r *selection.Resolver, name string) error {
	fallback := "vi"
	if runtime.GOOS == "windows" {
		fallback = "notepad"
	}
	words := strings.Fields(cmp.Or(strings.TrimSpace(r.Getenv("VISUAL")), strings.TrimSpace(r.Getenv("EDITOR")), fallback))
	cmd := exec.Command(words[0], append(words[1:], name)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.In, r.Out, r.Err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("editor %s: %w; set VISUAL or EDITOR to another program", words[0], err)
	}
	return nil
}
