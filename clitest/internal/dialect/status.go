package dialect

import (
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/login"
)

// Status is what the CLI's status command prints in a state of its login; ok is false where the spec cannot tell.
func (d *Dialect) Status(state clispec.LoginState) (s Script, ok bool) {
	rule := d.spec.Login.Status
	for _, sign := range rule.Signs {
		if sign.Login != state {
			continue
		}
		var o object
		text, known := Sample(sign.Pattern)
		if !known || !o.match(sign.JSON) {
			continue
		}
		s := Script{Exit: sign.Exit}
		if o.root != nil {
			s.Lines = append(s.Lines, encode(o.root))
		}
		if text != "" {
			s.Lines = append(s.Lines, text)
		}
		if login.Sign(rule, s.Stdout(), "", s.Exit).Login == state {
			return s, true
		}
	}
	return Script{}, false
}
