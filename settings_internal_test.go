package clichain

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// fill sets a value to something other than zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Chan:
		v.Set(reflect.MakeChan(v.Type(), 1))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	}
}

// Each field of a Config reaches the packages that run CLIs.
func TestSettingsHaveEachField(t *testing.T) {
	var c Config
	config := reflect.ValueOf(&c).Elem()
	for i := range config.NumField() {
		fill(config.Field(i))
	}
	s := c.settings()
	settings := reflect.ValueOf(s)
	require.Equal(t, config.NumField(), settings.NumField())
	for field := range config.Type().Fields() {
		want, got := config.FieldByName(field.Name), settings.FieldByName(field.Name)
		require.True(t, got.IsValid(), field.Name)
		require.False(t, got.IsZero(), field.Name)
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), field.Name)
	}
}
