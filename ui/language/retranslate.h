/// Turns what open windows show to the present language: every text that a widget, an action or an item holds, and then
/// QEvent::LanguageChange for those that put texts together themselves.
#pragma once

namespace mantissa {

void retranslateWindows();

} // namespace mantissa
