#include "engine/core/portable_math.h"

#include <cmath>
#include <numbers>

namespace mantissa {

double portableLog(double x)
{
    int exponent = 0;
    double mantissa = std::frexp(x, &exponent); // exact, in [1/2, 1)
    if (mantissa < std::numbers::sqrt2 / 2) {
        mantissa *= 2;
        --exponent;
    }
    // log m = 2 atanh s = 2 (s + s^3/3 + s^5/5 + ...) with s^2 below 0.0295: eleven terms reach 1e-18.
    const double s = (mantissa - 1) / (mantissa + 1);
    double series = 0;
    for (int k = 21; k >= 1; k -= 2) {
        series = series * (s * s) + 1.0 / k;
    }
    return exponent * std::numbers::ln2 + 2 * s * series;
}

SineCosine portableSineCosine(double turns)
{
    // The nearest quarter turn leaves an angle of at most pi/4, where nine terms of the power series reach 1e-18.
    const auto quarter = static_cast<int>(turns * 4 + 0.5);
    const double angle = (turns - quarter * 0.25) * (2 * std::numbers::pi);
    const double square = angle * angle;
    double sine = 1;
    double cosine = 1;
    for (int k = 18; k >= 2; k -= 2) {
        sine = 1 - square / (k * (k + 1)) * sine;
        cosine = 1 - square / (k * (k - 1)) * cosine;
    }
    sine *= angle;
    switch (quarter % 4) {
    case 0:
        return {sine, cosine};
    case 1:
        return {cosine, -sine};
    case 2:
        return {-sine, -cosine};
    default:
        return {-cosine, sine};
    }
}

} // namespace mantissa
