#include "engine/formats/census.h"

namespace mantissa {

Census& Census::operator+=(const Census& other)
{
    zero += other.zero;
    flushed += other.flushed;
    subnormal += other.subnormal;
    normal += other.normal;
    overflowed += other.overflowed;
    infinite += other.infinite;
    nan += other.nan;
    return *this;
}

} // namespace mantissa
