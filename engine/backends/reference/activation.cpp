/// Activations and other functions of one number with their derivatives, in forms that do not cancel in double.
#include "engine/backends/reference/kernels.h"

#include <cmath>
#include <numbers>

namespace mantissa::reference {

namespace {

/// out = f(in), element by element.
template <typename Function> void map(const Operands& operands, Function function)
{
    const Input x = operands.in(0);
    const Output y = operands.out(0);
    for (std::int64_t i = 0; i < x.size(); ++i) {
        y.set(i, function(x[i]));
    }
}

/// out = f(d, saved), element by element.
template <typename Function> void mapGradient(const Operands& operands, Function function)
{
    const Input d = operands.in(0);
    const Input saved = operands.in(1);
    const Output y = operands.out(0);
    for (std::int64_t i = 0; i < d.size(); ++i) {
        y.set(i, function(d[i], saved[i]));
    }
}

double logistic(double x)
{
    return 1 / (1 + std::exp(-x));
}

/// The cumulative normal distribution; erfc keeps the tail's digits where 1 + erf would cancel.
double normalCdf(double x)
{
    return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

double normalDensity(double x)
{
    return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
}

// The tanh form: 0.5 x (1 + tanh(u)) = x logistic(2u), u = sqrt(2/pi) (x + 0.044715 x^3).
// Source: Hendrycks, Gimpel, "Gaussian error linear units (GELUs)", 2016.
constexpr double geluCubic = 0.044715;

double geluTanhArgument(double x)
{
    return std::sqrt(2 / std::numbers::pi) * (x + geluCubic * x * x * x);
}

double geluTanhArgumentSlope(double x)
{
    return std::sqrt(2 / std::numbers::pi) * (1 + 3 * geluCubic * x * x);
}

double geluTanhSlope(double x)
{
    const double u2 = 2 * geluTanhArgument(x);
    return logistic(u2) + 2 * x * logistic(u2) * logistic(-u2) * geluTanhArgumentSlope(x);
}

} // namespace

void relu(const Operands& operands)
{
    map(operands, [](double x) { return x > 0 || std::isnan(x) ? x : 0; });
}

void reluGrad(const Operands& operands)
{
    mapGradient(operands, [](double d, double y) { return y > 0 ? d : 0; });
}

void gelu(const Operands& operands)
{
    if (operands.attributes<GeluAttributes>().tanhForm) {
        map(operands, [](double x) { return x * logistic(2 * geluTanhArgument(x)); });
    } else {
        map(operands, [](double x) { return x * normalCdf(x); });
    }
}

void geluGrad(const Operands& operands)
{
    if (operands.attributes<GeluAttributes>().tanhForm) {
        mapGradient(operands, [](double d, double x) { return d * geluTanhSlope(x); });
    } else {
        mapGradient(operands, [](double d, double x) { return d * (normalCdf(x) + x * normalDensity(x)); });
    }
}

void silu(const Operands& operands)
{
    map(operands, [](double x) { return x * logistic(x); });
}

void siluGrad(const Operands& operands)
{
    mapGradient(operands, [](double d, double x) { return d * logistic(x) * (1 + x * logistic(-x)); });
}

void tanh(const Operands& operands)
{
    map(operands, [](double x) { return std::tanh(x); });
}

void tanhGrad(const Operands& operands)
{
    mapGradient(operands, [](double d, double y) { return d * (1 - y * y); });
}

void sigmoid(const Operands& operands)
{
    map(operands, logistic);
}

void sigmoidGrad(const Operands& operands)
{
    mapGradient(operands, [](double d, double y) { return d * y * (1 - y); });
}

void exp(const Operands& operands)
{
    map(operands, [](double x) { return std::exp(x); });
}

void log(const Operands& operands)
{
    map(operands, [](double x) { return std::log(x); });
}

void logGrad(const Operands& operands)
{
    mapGradient(operands, [](double d, double x) { return d / x; });
}

} // namespace mantissa::reference
