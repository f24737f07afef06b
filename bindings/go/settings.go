package gnnmg

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gnnmg/internal/raw"
)

// A Setting is one of the library's settings by name: of an option of a [Runtime], or of a field of a
// Config.
type Setting struct {
	Name    string
	Type    string // "flag", "integer", "number", "choice", "text", "integers" or "choices"
	Default string // value if it is not given
	Values  string // range or choices
	Help    string // effect, one line or more
}

// Settings lists the settings of a subject: "context" for [Runtime.SetOption], or "dataset", "split",
// "folds", "parts", "served", "sampler", "loader", "model", "norm", "model_file", "optimizer",
// "trainer", "predictor", "checkpoints", or the name of a generator, of which the Config types have
// them as fields.
func Settings(subject string) ([]Setting, error) {
	if err := raw.Load(); err != nil {
		return nil, refuse(ErrDependency, "%v", err)
	}
	s, err := name("subject", subject)
	if err != nil {
		return nil, err
	}
	var all []Setting
	for i := int64(0); ; i++ {
		var info raw.SettingInfo
		r := raw.SettingGetInfo(s, i, sized(&info))
		if r.Status != raw.OK {
			return all, failure(r)
		}
		all = append(all, Setting{raw.Text(info.Name), raw.Text(info.Type), raw.Text(info.DefaultValue),
			raw.Text(info.Values), raw.Text(info.Help)})
	}
}

// configOf is a struct of settings whose fields have the library's names in their tags.
type configOf[C any] interface {
	*C
	subject() string
	setDefaults()
}

// changed returns the settings that options change, as a text for the library.
func changed[C any, P configOf[C]](options []func(*C)) string {
	var usual, c C
	P(&usual).setDefaults()
	P(&c).setDefaults()
	for _, option := range options {
		if option != nil {
			option(&c)
		}
	}
	var words []string
	before, after := reflect.ValueOf(usual), reflect.ValueOf(c)
	for i := range after.NumField() {
		value := settingText(after.Field(i))
		if value == settingText(before.Field(i)) {
			continue
		}
		key, _, _ := strings.Cut(after.Type().Field(i).Tag.Get("json"), ",")
		words = append(words, key+"="+value)
	}
	return strings.Join(words, " ")
}

// settings is changed on its way to the library; nil for none.
func settings[C any, P configOf[C]](options []func(*C)) (*byte, error) {
	return nameOrNone("settings", changed[C, P](options))
}

// settingText writes a value as the library reads it.
func settingText(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case encoding.TextMarshaler:
		text, _ := value.MarshalText() // never fails
		return string(text)
	case time.Duration:
		return strconv.FormatInt(milliseconds(value), 10)
	case bool:
		return strconv.Itoa(int(flag(value)))
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64)
	}
	switch v.Kind() {
	case reflect.Slice:
		if v.Len() == 0 {
			return "none"
		}
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = settingText(v.Index(i))
		}
		return strings.Join(parts, ",")
	case reflect.String:
		if strings.ContainsFunc(v.String(), func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '\\' }) {
			return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(v.String()) + `"`
		}
	}
	return fmt.Sprint(v.Interface())
}

// wordOf is the word of an enumeration's value, or its number where this version has none.
func wordOf(words []string, value int) []byte {
	if value < 0 || value >= len(words) {
		return strconv.AppendInt(nil, int64(value), 10)
	}
	return []byte(words[value])
}

func setWord(words []string, value *int32, text []byte) error {
	at := slices.Index(words, string(text))
	if at < 0 {
		return refuse(ErrInvalidArgument, "%q is none of %q", text, words)
	}
	*value = int32(at)
	return nil
}
