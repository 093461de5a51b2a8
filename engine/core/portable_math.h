/// Functions whose results are the same bits on every machine: sums and products of doubles only, where the C library's
/// versions differ in the last place between libraries and processors. For random numbers that must agree everywhere.
#pragma once

namespace mantissa {

/// The natural logarithm of a positive, finite number; within 2 units of the last place.
double portableLog(double x);

struct SineCosine
{
    double sine;
    double cosine;
};

/// Of an angle in turns, from 0 to 1: 0.25 is a right angle. Absolute error below 3e-16.
SineCosine portableSineCosine(double turns);

} // namespace mantissa
