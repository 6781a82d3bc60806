package param

import (
	"time"

	"github.com/spf13/pflag"
)

// define declares a flag that sets a part of Values.
type define func(flags *pflag.FlagSet, name, help string, v *Values)

func text(at func(*Values) *string) define {
	return func(flags *pflag.FlagSet, name, help string, v *Values) { flags.StringVar(at(v), name, "", help) }
}

func truth(at func(*Values) *bool) define {
	return func(flags *pflag.FlagSet, name, help string, v *Values) { flags.BoolVar(at(v), name, false, help) }
}

// list declares a flag for several values, separated by commas.
func list(at func(*Values) *[]string) define {
	return func(flags *pflag.FlagSet, name, help string, v *Values) { flags.StringSliceVar(at(v), name, nil, help) }
}

// each declares a repeatable flag for one value.
func each(at func(*Values) *[]string) define {
	return func(flags *pflag.FlagSet, name, help string, v *Values) { flags.StringArrayVar(at(v), name, nil, help) }
}

func parsed[T any](at func(*Values) *T, parse func(string) (T, error)) define {
	return func(flags *pflag.FlagSet, name, help string, v *Values) { flags.Func(name, help, Into(at(v), parse)) }
}

func duration(at func(*Values) *time.Duration) define { return parsed(at, Duration) }

// setter declares a repeatable flag for a pair.
func setter(set func(v *Values, text string) error) define {
	return func(flags *pflag.FlagSet, name, help string, v *Values) {
		flags.Func(name, help, func(text string) error { return set(v, text) })
	}
}
