package dialect

import (
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/login"
)

// Status returns the output of the CLI's status command for a login state. ok is false if the spec has no rule for it.
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
